-- The stock in a hundred tables, so that SKUs share neither an index page nor its latch. Which of them has a SKU is
-- said in store/shard.rs: CRC32 of `sale/sku`, modulo the number of tables in use. That number is chosen once, by the
-- first node that starts on this schema; stock that was there before lies in all of them.
CREATE TABLE stock_layout (
    id TINYINT UNSIGNED NOT NULL,
    shards SMALLINT UNSIGNED NOT NULL,
    PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

INSERT INTO stock_layout (id, shards) SELECT 1, 100 FROM stock LIMIT 1;

-- Counts the changes of a row, for who changes it on the condition that nobody else has.
ALTER TABLE stock ADD COLUMN version BIGINT UNSIGNED NOT NULL DEFAULT 0;

CREATE TABLE stock_00 LIKE stock;
CREATE TABLE stock_01 LIKE stock;
CREATE TABLE stock_02 LIKE stock;
CREATE TABLE stock_03 LIKE stock;
CREATE TABLE stock_04 LIKE stock;
CREATE TABLE stock_05 LIKE stock;
CREATE TABLE stock_06 LIKE stock;
CREATE TABLE stock_07 LIKE stock;
CREATE TABLE stock_08 LIKE stock;
CREATE TABLE stock_09 LIKE stock;
CREATE TABLE stock_10 LIKE stock;
CREATE TABLE stock_11 LIKE stock;
CREATE TABLE stock_12 LIKE stock;
CREATE TABLE stock_13 LIKE stock;
CREATE TABLE stock_14 LIKE stock;
CREATE TABLE stock_15 LIKE stock;
CREATE TABLE stock_16 LIKE stock;
CREATE TABLE stock_17 LIKE stock;
CREATE TABLE stock_18 LIKE stock;
CREATE TABLE stock_19 LIKE stock;
CREATE TABLE stock_20 LIKE stock;
CREATE TABLE stock_21 LIKE stock;
CREATE TABLE stock_22 LIKE stock;
CREATE TABLE stock_23 LIKE stock;
CREATE TABLE stock_24 LIKE stock;
CREATE TABLE stock_25 LIKE stock;
CREATE TABLE stock_26 LIKE stock;
CREATE TABLE stock_27 LIKE stock;
CREATE TABLE stock_28 LIKE stock;
CREATE TABLE stock_29 LIKE stock;
CREATE TABLE stock_30 LIKE stock;
CREATE TABLE stock_31 LIKE stock;
CREATE TABLE stock_32 LIKE stock;
CREATE TABLE stock_33 LIKE stock;
CREATE TABLE stock_34 LIKE stock;
CREATE TABLE stock_35 LIKE stock;
CREATE TABLE stock_36 LIKE stock;
CREATE TABLE stock_37 LIKE stock;
CREATE TABLE stock_38 LIKE stock;
CREATE TABLE stock_39 LIKE stock;
CREATE TABLE stock_40 LIKE stock;
CREATE TABLE stock_41 LIKE stock;
CREATE TABLE stock_42 LIKE stock;
CREATE TABLE stock_43 LIKE stock;
CREATE TABLE stock_44 LIKE stock;
CREATE TABLE stock_45 LIKE stock;
CREATE TABLE stock_46 LIKE stock;
CREATE TABLE stock_47 LIKE stock;
CREATE TABLE stock_48 LIKE stock;
CREATE TABLE stock_49 LIKE stock;
CREATE TABLE stock_50 LIKE stock;
CREATE TABLE stock_51 LIKE stock;
CREATE TABLE stock_52 LIKE stock;
CREATE TABLE stock_53 LIKE stock;
CREATE TABLE stock_54 LIKE stock;
CREATE TABLE stock_55 LIKE stock;
CREATE TABLE stock_56 LIKE stock;
CREATE TABLE stock_57 LIKE stock;
CREATE TABLE stock_58 LIKE stock;
CREATE TABLE stock_59 LIKE stock;
CREATE TABLE stock_60 LIKE stock;
CREATE TABLE stock_61 LIKE stock;
CREATE TABLE stock_62 LIKE stock;
CREATE TABLE stock_63 LIKE stock;
CREATE TABLE stock_64 LIKE stock;
CREATE TABLE stock_65 LIKE stock;
CREATE TABLE stock_66 LIKE stock;
CREATE TABLE stock_67 LIKE stock;
CREATE TABLE stock_68 LIKE stock;
CREATE TABLE stock_69 LIKE stock;
CREATE TABLE stock_70 LIKE stock;
CREATE TABLE stock_71 LIKE stock;
CREATE TABLE stock_72 LIKE stock;
CREATE TABLE stock_73 LIKE stock;
CREATE TABLE stock_74 LIKE stock;
CREATE TABLE stock_75 LIKE stock;
CREATE TABLE stock_76 LIKE stock;
CREATE TABLE stock_77 LIKE stock;
CREATE TABLE stock_78 LIKE stock;
CREATE TABLE stock_79 LIKE stock;
CREATE TABLE stock_80 LIKE stock;
CREATE TABLE stock_81 LIKE stock;
CREATE TABLE stock_82 LIKE stock;
CREATE TABLE stock_83 LIKE stock;
CREATE TABLE stock_84 LIKE stock;
CREATE TABLE stock_85 LIKE stock;
CREATE TABLE stock_86 LIKE stock;
CREATE TABLE stock_87 LIKE stock;
CREATE TABLE stock_88 LIKE stock;
CREATE TABLE stock_89 LIKE stock;
CREATE TABLE stock_90 LIKE stock;
CREATE TABLE stock_91 LIKE stock;
CREATE TABLE stock_92 LIKE stock;
CREATE TABLE stock_93 LIKE stock;
CREATE TABLE stock_94 LIKE stock;
CREATE TABLE stock_95 LIKE stock;
CREATE TABLE stock_96 LIKE stock;
CREATE TABLE stock_97 LIKE stock;
CREATE TABLE stock_98 LIKE stock;
CREATE TABLE stock_99 LIKE stock;

INSERT INTO stock_00 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 0;
INSERT INTO stock_01 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 1;
INSERT INTO stock_02 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 2;
INSERT INTO stock_03 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 3;
INSERT INTO stock_04 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 4;
INSERT INTO stock_05 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 5;
INSERT INTO stock_06 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 6;
INSERT INTO stock_07 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 7;
INSERT INTO stock_08 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 8;
INSERT INTO stock_09 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 9;
INSERT INTO stock_10 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 10;
INSERT INTO stock_11 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 11;
INSERT INTO stock_12 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 12;
INSERT INTO stock_13 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 13;
INSERT INTO stock_14 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 14;
INSERT INTO stock_15 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 15;
INSERT INTO stock_16 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 16;
INSERT INTO stock_17 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 17;
INSERT INTO stock_18 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 18;
INSERT INTO stock_19 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 19;
INSERT INTO stock_20 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 20;
INSERT INTO stock_21 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 21;
INSERT INTO stock_22 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 22;
INSERT INTO stock_23 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 23;
INSERT INTO stock_24 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 24;
INSERT INTO stock_25 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 25;
INSERT INTO stock_26 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 26;
INSERT INTO stock_27 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 27;
INSERT INTO stock_28 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 28;
INSERT INTO stock_29 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 29;
INSERT INTO stock_30 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 30;
INSERT INTO stock_31 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 31;
INSERT INTO stock_32 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 32;
INSERT INTO stock_33 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 33;
INSERT INTO stock_34 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 34;
INSERT INTO stock_35 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 35;
INSERT INTO stock_36 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 36;
INSERT INTO stock_37 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 37;
INSERT INTO stock_38 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 38;
INSERT INTO stock_39 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 39;
INSERT INTO stock_40 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 40;
INSERT INTO stock_41 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 41;
INSERT INTO stock_42 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 42;
INSERT INTO stock_43 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 43;
INSERT INTO stock_44 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 44;
INSERT INTO stock_45 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 45;
INSERT INTO stock_46 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 46;
INSERT INTO stock_47 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 47;
INSERT INTO stock_48 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 48;
INSERT INTO stock_49 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 49;
INSERT INTO stock_50 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 50;
INSERT INTO stock_51 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 51;
INSERT INTO stock_52 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 52;
INSERT INTO stock_53 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 53;
INSERT INTO stock_54 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 54;
INSERT INTO stock_55 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 55;
INSERT INTO stock_56 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 56;
INSERT INTO stock_57 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 57;
INSERT INTO stock_58 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 58;
INSERT INTO stock_59 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 59;
INSERT INTO stock_60 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 60;
INSERT INTO stock_61 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 61;
INSERT INTO stock_62 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 62;
INSERT INTO stock_63 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 63;
INSERT INTO stock_64 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 64;
INSERT INTO stock_65 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 65;
INSERT INTO stock_66 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 66;
INSERT INTO stock_67 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 67;
INSERT INTO stock_68 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 68;
INSERT INTO stock_69 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 69;
INSERT INTO stock_70 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 70;
INSERT INTO stock_71 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 71;
INSERT INTO stock_72 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 72;
INSERT INTO stock_73 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 73;
INSERT INTO stock_74 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 74;
INSERT INTO stock_75 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 75;
INSERT INTO stock_76 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 76;
INSERT INTO stock_77 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 77;
INSERT INTO stock_78 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 78;
INSERT INTO stock_79 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 79;
INSERT INTO stock_80 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 80;
INSERT INTO stock_81 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 81;
INSERT INTO stock_82 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 82;
INSERT INTO stock_83 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 83;
INSERT INTO stock_84 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 84;
INSERT INTO stock_85 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 85;
INSERT INTO stock_86 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 86;
INSERT INTO stock_87 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 87;
INSERT INTO stock_88 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 88;
INSERT INTO stock_89 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 89;
INSERT INTO stock_90 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 90;
INSERT INTO stock_91 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 91;
INSERT INTO stock_92 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 92;
INSERT INTO stock_93 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 93;
INSERT INTO stock_94 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 94;
INSERT INTO stock_95 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 95;
INSERT INTO stock_96 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 96;
INSERT INTO stock_97 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 97;
INSERT INTO stock_98 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 98;
INSERT INTO stock_99 SELECT * FROM stock WHERE CRC32(CONCAT(sale, '/', sku)) % 100 = 99;

DROP TABLE stock;

-- To read; what is read from many tables at once cannot be written through.
CREATE VIEW stock AS
SELECT sale, sku, total, available FROM stock_00
UNION ALL SELECT sale, sku, total, available FROM stock_01
UNION ALL SELECT sale, sku, total, available FROM stock_02
UNION ALL SELECT sale, sku, total, available FROM stock_03
UNION ALL SELECT sale, sku, total, available FROM stock_04
UNION ALL SELECT sale, sku, total, available FROM stock_05
UNION ALL SELECT sale, sku, total, available FROM stock_06
UNION ALL SELECT sale, sku, total, available FROM stock_07
UNION ALL SELECT sale, sku, total, available FROM stock_08
UNION ALL SELECT sale, sku, total, available FROM stock_09
UNION ALL SELECT sale, sku, total, available FROM stock_10
UNION ALL SELECT sale, sku, total, available FROM stock_11
UNION ALL SELECT sale, sku, total, available FROM stock_12
UNION ALL SELECT sale, sku, total, available FROM stock_13
UNION ALL SELECT sale, sku, total, available FROM stock_14
UNION ALL SELECT sale, sku, total, available FROM stock_15
UNION ALL SELECT sale, sku, total, available FROM stock_16
UNION ALL SELECT sale, sku, total, available FROM stock_17
UNION ALL SELECT sale, sku, total, available FROM stock_18
UNION ALL SELECT sale, sku, total, available FROM stock_19
UNION ALL SELECT sale, sku, total, available FROM stock_20
UNION ALL SELECT sale, sku, total, available FROM stock_21
UNION ALL SELECT sale, sku, total, available FROM stock_22
UNION ALL SELECT sale, sku, total, available FROM stock_23
UNION ALL SELECT sale, sku, total, available FROM stock_24
UNION ALL SELECT sale, sku, total, available FROM stock_25
UNION ALL SELECT sale, sku, total, available FROM stock_26
UNION ALL SELECT sale, sku, total, available FROM stock_27
UNION ALL SELECT sale, sku, total, available FROM stock_28
UNION ALL SELECT sale, sku, total, available FROM stock_29
UNION ALL SELECT sale, sku, total, available FROM stock_30
UNION ALL SELECT sale, sku, total, available FROM stock_31
UNION ALL SELECT sale, sku, total, available FROM stock_32
UNION ALL SELECT sale, sku, total, available FROM stock_33
UNION ALL SELECT sale, sku, total, available FROM stock_34
UNION ALL SELECT sale, sku, total, available FROM stock_35
UNION ALL SELECT sale, sku, total, available FROM stock_36
UNION ALL SELECT sale, sku, total, available FROM stock_37
UNION ALL SELECT sale, sku, total, available FROM stock_38
UNION ALL SELECT sale, sku, total, available FROM stock_39
UNION ALL SELECT sale, sku, total, available FROM stock_40
UNION ALL SELECT sale, sku, total, available FROM stock_41
UNION ALL SELECT sale, sku, total, available FROM stock_42
UNION ALL SELECT sale, sku, total, available FROM stock_43
UNION ALL SELECT sale, sku, total, available FROM stock_44
UNION ALL SELECT sale, sku, total, available FROM stock_45
UNION ALL SELECT sale, sku, total, available FROM stock_46
UNION ALL SELECT sale, sku, total, available FROM stock_47
UNION ALL SELECT sale, sku, total, available FROM stock_48
UNION ALL SELECT sale, sku, total, available FROM stock_49
UNION ALL SELECT sale, sku, total, available FROM stock_50
UNION ALL SELECT sale, sku, total, available FROM stock_51
UNION ALL SELECT sale, sku, total, available FROM stock_52
UNION ALL SELECT sale, sku, total, available FROM stock_53
UNION ALL SELECT sale, sku, total, available FROM stock_54
UNION ALL SELECT sale, sku, total, available FROM stock_55
UNION ALL SELECT sale, sku, total, available FROM stock_56
UNION ALL SELECT sale, sku, total, available FROM stock_57
UNION ALL SELECT sale, sku, total, available FROM stock_58
UNION ALL SELECT sale, sku, total, available FROM stock_59
UNION ALL SELECT sale, sku, total, available FROM stock_60
UNION ALL SELECT sale, sku, total, available FROM stock_61
UNION ALL SELECT sale, sku, total, available FROM stock_62
UNION ALL SELECT sale, sku, total, available FROM stock_63
UNION ALL SELECT sale, sku, total, available FROM stock_64
UNION ALL SELECT sale, sku, total, available FROM stock_65
UNION ALL SELECT sale, sku, total, available FROM stock_66
UNION ALL SELECT sale, sku, total, available FROM stock_67
UNION ALL SELECT sale, sku, total, available FROM stock_68
UNION ALL SELECT sale, sku, total, available FROM stock_69
UNION ALL SELECT sale, sku, total, available FROM stock_70
UNION ALL SELECT sale, sku, total, available FROM stock_71
UNION ALL SELECT sale, sku, total, available FROM stock_72
UNION ALL SELECT sale, sku, total, available FROM stock_73
UNION ALL SELECT sale, sku, total, available FROM stock_74
UNION ALL SELECT sale, sku, total, available FROM stock_75
UNION ALL SELECT sale, sku, total, available FROM stock_76
UNION ALL SELECT sale, sku, total, available FROM stock_77
UNION ALL SELECT sale, sku, total, available FROM stock_78
UNION ALL SELECT sale, sku, total, available FROM stock_79
UNION ALL SELECT sale, sku, total, available FROM stock_80
UNION ALL SELECT sale, sku, total, available FROM stock_81
UNION ALL SELECT sale, sku, total, available FROM stock_82
UNION ALL SELECT sale, sku, total, available FROM stock_83
UNION ALL SELECT sale, sku, total, available FROM stock_84
UNION ALL SELECT sale, sku, total, available FROM stock_85
UNION ALL SELECT sale, sku, total, available FROM stock_86
UNION ALL SELECT sale, sku, total, available FROM stock_87
UNION ALL SELECT sale, sku, total, available FROM stock_88
UNION ALL SELECT sale, sku, total, available FROM stock_89
UNION ALL SELECT sale, sku, total, available FROM stock_90
UNION ALL SELECT sale, sku, total, available FROM stock_91
UNION ALL SELECT sale, sku, total, available FROM stock_92
UNION ALL SELECT sale, sku, total, available FROM stock_93
UNION ALL SELECT sale, sku, total, available FROM stock_94
UNION ALL SELECT sale, sku, total, available FROM stock_95
UNION ALL SELECT sale, sku, total, available FROM stock_96
UNION ALL SELECT sale, sku, total, available FROM stock_97
UNION ALL SELECT sale, sku, total, available FROM stock_98
UNION ALL SELECT sale, sku, total, available FROM stock_99;
