-- Run by a MySQL server at each start; one statement a line. Kept out of the binary log: what a replica replays comes
-- after it.
SET SESSION sql_log_bin = 0;
CREATE DATABASE IF NOT EXISTS flashdrill CHARACTER SET utf8mb4;
CREATE USER IF NOT EXISTS 'flashdrill'@'127.0.0.%' IDENTIFIED BY 'flashdrill';
GRANT ALL ON *.* TO 'flashdrill'@'127.0.0.%';
CREATE USER IF NOT EXISTS 'service'@'127.0.0.%' IDENTIFIED BY 'service';
GRANT ALL ON flashdrill.* TO 'service'@'127.0.0.%' WITH GRANT OPTION;
CREATE USER IF NOT EXISTS 'node'@'127.0.0.%' IDENTIFIED BY 'node';
