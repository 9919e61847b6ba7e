-- Everything the service must never forget. One statement set for MariaDB 10.11 and MySQL 8.4.
-- Names are compared byte by byte (utf8mb4_bin), order ids are ASCII.

CREATE TABLE sales (
    sale VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    limit_per_user INT UNSIGNED NOT NULL,
    starts_at_ms BIGINT UNSIGNED NOT NULL,
    ends_at_ms BIGINT UNSIGNED NOT NULL,
    state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    PRIMARY KEY (sale)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

-- Signed and without a check on purpose: a broken decrement must be seen as a negative number by whoever
-- judges the store, not turned into an error that hides it.
CREATE TABLE stock (
    sale VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    sku VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    total BIGINT NOT NULL,
    available BIGINT NOT NULL,
    PRIMARY KEY (sale, sku)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

-- live_key is 1 while the order holds stock (created, paid) and NULL afterwards; NULLs do not collide, so the
-- unique key allows one live order per (sale, SKU, user) and any number of ended ones.
CREATE TABLE orders (
    order_id CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    sale VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    sku VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    user VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    quantity INT UNSIGNED NOT NULL,
    request_id VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    reason VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
    requested_at_ms BIGINT UNSIGNED NOT NULL,
    created_at_ms BIGINT UNSIGNED NOT NULL,
    updated_at_ms BIGINT UNSIGNED NOT NULL,
    live_key TINYINT UNSIGNED NULL,
    PRIMARY KEY (order_id),
    UNIQUE KEY one_live_order (sale, sku, user, live_key)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

-- Written in the transaction that has the message's effect: a message that is here has been applied.
CREATE TABLE consumed (
    message_key CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    consumed_at_ms BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (message_key)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

-- "Release this reservation in Redis", written with the state change that demands it, repeated until done.
CREATE TABLE releases (
    order_id CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    sale VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    sku VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    done TINYINT UNSIGNED NOT NULL DEFAULT 0,
    PRIMARY KEY (order_id),
    KEY pending (done, order_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

CREATE TABLE audit (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    at_ms BIGINT UNSIGNED NOT NULL,
    who VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    what VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    sale VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    before_value TEXT CHARACTER SET utf8mb4 NOT NULL,
    after_value TEXT CHARACTER SET utf8mb4 NOT NULL,
    PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;
