-- What the nodes of the service agree on. Times are of this server's clock, Unix ms: the nodes' own may differ.

-- A node whose time has run out is gone, as far as the others are concerned.
CREATE TABLE nodes (
    node CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    -- Buyers come in here: orders of theirs may be on the way.
    is_gateway TINYINT UNSIGNED NOT NULL,
    -- When the last reading of the gates began whose consequences the node has drawn.
    read_at_ms BIGINT UNSIGNED NOT NULL,
    expires_at_ms BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (node)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

-- One row: the keeper that leads.
CREATE TABLE keeper_lease (
    id TINYINT UNSIGNED NOT NULL,
    node CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    expires_at_ms BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

INSERT INTO keeper_lease (id, node, expires_at_ms) VALUES (1, '', 0);

-- A SKU that was warmed up once. `epoch` numbers the attempts to make sure of its stock; Redis takes nothing of an
-- older one. While it is ready, its stock is right on this process of this Redis node.
CREATE TABLE gates (
    sale VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    sku VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    epoch BIGINT UNSIGNED NOT NULL,
    is_ready TINYINT UNSIGNED NOT NULL,
    redis_node VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    redis_run VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    -- Why it is not ready yet.
    trouble VARCHAR(255) CHARACTER SET utf8mb4 NOT NULL,
    PRIMARY KEY (sale, sku)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

-- "I let nobody in, and nothing of this SKU is on its way through me", said under an epoch.
CREATE TABLE quiet_nodes (
    sale VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    sku VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    node CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    epoch BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (sale, sku, node)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;
