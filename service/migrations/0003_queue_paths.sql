-- Each sale chooses its way from a reservation to an order.
ALTER TABLE sales ADD COLUMN queue VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'rocketmq';

-- Announcements of orders, written in the order's transaction and sent by the relay. A row that is here has not been
-- sent, as far as anybody knows.
CREATE TABLE outbox (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    order_id CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    -- The order as JSON.
    body TEXT CHARACTER SET utf8mb4 NOT NULL,
    tries INT UNSIGNED NOT NULL DEFAULT 0,
    -- Of this server's clock, Unix ms; not offered to the broker before.
    due_at_ms BIGINT UNSIGNED NOT NULL DEFAULT 0,
    PRIMARY KEY (id),
    KEY due (due_at_ms, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

-- Messages that were tried often enough, or that nobody can apply: for an operator to replay or to discard.
CREATE TABLE dead_letters (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    kind VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    order_id CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    body TEXT CHARACTER SET utf8mb4 NOT NULL,
    reason VARCHAR(255) CHARACTER SET utf8mb4 NOT NULL,
    tries INT UNSIGNED NOT NULL,
    parked_at_ms BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY one_letter (kind, order_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;
