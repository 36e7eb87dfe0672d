SET FOREIGN_KEY_CHECKS = 0
;;
CREATE TABLE `postbag_outbox` (
  `seq` bigint(20) NOT NULL AUTO_INCREMENT,
  `id` binary(16) NOT NULL DEFAULT unhex(concat(lpad(hex(timestampdiff(MICROSECOND,'1970-01-01',utc_timestamp(6)) DIV 1000),12,'0'),'7',left(hex(random_bytes(2)),3),hex(128 + (ord(random_bytes(1)) & 63)),hex(random_bytes(7)))),
  `at` bigint(20) NOT NULL DEFAULT timestampdiff(MICROSECOND,'1970-01-01',utc_timestamp(6)),
  `topic` varbinary(300) NOT NULL DEFAULT 'outbox',
  `key` varbinary(1100) NOT NULL DEFAULT '',
  `shard_key` varbinary(1100) NOT NULL DEFAULT '',
  `type` varbinary(300) NOT NULL DEFAULT '',
  `headers` mediumtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `payload` longblob NOT NULL,
  `slot` smallint(5) unsigned GENERATED ALWAYS AS (case when `topic` = '' then 65535 else conv(left(sha2(case when `shard_key` <> '' then `shard_key` when `key` <> '' then `key` else `id` end,256),3),16,10) end) STORED,
  PRIMARY KEY (`seq`),
  CONSTRAINT `postbag_outbox__id` CHECK (`topic` = '' or `id` <> X'00000000000000000000000000000000'),
  CONSTRAINT `postbag_outbox__topic` CHECK (octet_length(`topic`) <= 255 and locate(X'00',`topic`) = 0 and (`topic` <> '' or `type` = '@tombstone' and `id` = X'00000000000000000000000000000000' and `payload` = '')),
  CONSTRAINT `postbag_outbox__key` CHECK (octet_length(`key`) <= 1024 and locate(X'00',`key`) = 0),
  CONSTRAINT `postbag_outbox__shard_key` CHECK (octet_length(`shard_key`) <= 1024 and locate(X'00',`shard_key`) = 0),
  CONSTRAINT `postbag_outbox__type` CHECK (octet_length(`type`) <= 255 and locate(X'00',`type`) = 0),
  CONSTRAINT `postbag_outbox__headers` CHECK (`headers` is null or octet_length(`headers`) <= 65536 and locate(char(0 using utf8mb4),`headers`) = 0 and json_valid(`headers`) and json_type(`headers`) = 'OBJECT'),
  CONSTRAINT `postbag_outbox__json` CHECK (`headers` is null or coalesce(`headers` regexp convert(replace(concat('(?(DEFINE)(?<w>[!x20!t!r!n]*+)','(?<s>"(?>[^"!!!x00-!x1f]++|!!(?>["!!/bfnrt]|u[0-9A-Fa-f]{4}))*+")','(?<n>-?+(?>0|[1-9][0-9]*+)(?>!.[0-9]++)?+(?>[Ee][-+]?+[0-9]++)?+)','(?<v>(?>(?&s)|(?&n)|true|false|null|(?&o)|(?&a))(?&w))','(?<m>(?&s)(?&w):(?&w)(?&v))','(?<o>{(?&w)(?>}|(?&m)(?>,(?&w)(?&m))*+}))','(?<a>![(?&w)(?>!]|(?&v)(?>,(?&w)(?&v))*+!])))','!A(?&w)(?&o)(?&w)!z'),'!',char(92 using utf8mb4)) using utf8mb4),0)),
  CONSTRAINT `postbag_outbox__payload` CHECK (octet_length(`payload`) <= 16777216),
  CONSTRAINT `postbag_outbox__at` CHECK (`at` > 0)
) ENGINE=InnoDB AUTO_INCREMENT=21 DEFAULT CHARSET=binary
;;
INSERT INTO `postbag_outbox` (`seq`, `id`, `at`, `topic`, `key`, `shard_key`, `type`, `headers`, `payload`) VALUES (1, x'01a219d32e0977ffb50a9156614ed243', 1795729600011195, x'74', x'6f6c642d30', x'', x'', NULL, x'30316132313964332d326530392d373766662d623530612d393135363631346564323433')
;;
INSERT INTO `postbag_outbox` (`seq`, `id`, `at`, `topic`, `key`, `shard_key`, `type`, `headers`, `payload`) VALUES (2, x'01a219d32e0f7015b16c39d5d9913388', 1795729600015316, x'74', x'6f6c642d31', x'', x'', NULL, x'30316132313964332d326530662d373031352d623136632d333964356439393133333838')
;;
INSERT INTO `postbag_outbox` (`seq`, `id`, `at`, `topic`, `key`, `shard_key`, `type`, `headers`, `payload`) VALUES (3, x'01a219d32e1574849840b88d0f6273d4', 1795729600027159, x'74', x'6f6c642d32', x'', x'', NULL, x'30316132313964332d326531352d373438342d393834302d623838643066363237336434')
;;
INSERT INTO `postbag_outbox` (`seq`, `id`, `at`, `topic`, `key`, `shard_key`, `type`, `headers`, `payload`) VALUES (4, x'01a219d32e1f7324927ca7a5255a6bee', 1795729600031619, x'74', x'6f6c642d33', x'', x'', NULL, x'30316132313964332d326531662d373332342d393237632d613761353235356136626565')
;;
INSERT INTO `postbag_outbox` (`seq`, `id`, `at`, `topic`, `key`, `shard_key`, `type`, `headers`, `payload`) VALUES (5, x'01a219d32e2070309fb9ab2805d8c167', 1795729600033176, x'74', x'6f6c642d34', x'', x'', NULL, x'30316132313964332d326532302d373033302d396662392d616232383035643863313637')
;;
INSERT INTO `postbag_outbox` (`seq`, `id`, `at`, `topic`, `key`, `shard_key`, `type`, `headers`, `payload`) VALUES (6, x'01a219d32e22738985f7f1c0e7417a13', 1795729600034588, x'74', x'6f6c642d30', x'', x'', NULL, x'30316132313964332d326532322d373338392d383566372d663163306537343137613133')
;;
INSERT INTO `postbag_outbox` (`seq`, `id`, `at`, `topic`, `key`, `shard_key`, `type`, `headers`, `payload`) VALUES (7, x'01a219d32e2370a1bd6ec7a280c5cb17', 1795729600035249, x'74', x'6f6c642d31', x'', x'', NULL, x'30316132313964332d326532332d373061312d626436652d633761323830633563623137')
;;
INSERT INTO `postbag_outbox` (`seq`, `id`, `at`, `topic`, `key`, `shard_key`, `type`, `headers`, `payload`) VALUES (8, x'01a219d32e28760d989d12ca3d9e9b78', 1795729600040980, x'74', x'6f6c642d32', x'', x'', NULL, x'30316132313964332d326532382d373630642d393839642d313263613364396539623738')
;;
INSERT INTO `postbag_outbox` (`seq`, `id`, `at`, `topic`, `key`, `shard_key`, `type`, `headers`, `payload`) VALUES (9, x'01a219d32e2a75c79c58ffb052677045', 1795729600042297, x'74', x'6f6c642d33', x'', x'', NULL, x'30316132313964332d326532612d373563372d396335382d666662303532363737303435')
;;
INSERT INTO `postbag_outbox` (`seq`, `id`, `at`, `topic`, `key`, `shard_key`, `type`, `headers`, `payload`) VALUES (10, x'01a219d32e2a75c79ca7002a3609a573', 1795729600043107, x'74', x'6f6c642d34', x'', x'', NULL, x'30316132313964332d326532612d373563372d396361372d303032613336303961353733')
;;
INSERT INTO `postbag_outbox` (`seq`, `id`, `at`, `topic`, `key`, `shard_key`, `type`, `headers`, `payload`) VALUES (11, x'01a219d32e2b7543a1467637df9d23b1', 1795729600043784, x'74', x'6f6c642d30', x'', x'', NULL, x'30316132313964332d326532622d373534332d613134362d373633376466396432336231')
;;
INSERT INTO `postbag_outbox` (`seq`, `id`, `at`, `topic`, `key`, `shard_key`, `type`, `headers`, `payload`) VALUES (12, x'01a219d32e2c7159ad9a5f9b36d1bc8a', 1795729600044447, x'74', x'6f6c642d31', x'', x'', NULL, x'30316132313964332d326532632d373135392d616439612d356639623336643162633861')
;;
INSERT INTO `postbag_outbox` (`seq`, `id`, `at`, `topic`, `key`, `shard_key`, `type`, `headers`, `payload`) VALUES (13, x'01a219d32e2c7159ade8d250670e709b', 1795729600045106, x'74', x'6f6c642d32', x'', x'', NULL, x'30316132313964332d326532632d373135392d616465382d643235303637306537303962')
;;
INSERT INTO `postbag_outbox` (`seq`, `id`, `at`, `topic`, `key`, `shard_key`, `type`, `headers`, `payload`) VALUES (14, x'01a219d32e2d7186aee05989f84c9907', 1795729600045692, x'74', x'6f6c642d33', x'', x'', NULL, x'30316132313964332d326532642d373138362d616565302d353938396638346339393037')
;;
INSERT INTO `postbag_outbox` (`seq`, `id`, `at`, `topic`, `key`, `shard_key`, `type`, `headers`, `payload`) VALUES (15, x'01a219d32e2e734b9203c000d0da2edc', 1795729600046346, x'74', x'6f6c642d34', x'', x'', NULL, x'30316132313964332d326532652d373334622d393230332d633030306430646132656463')
;;
INSERT INTO `postbag_outbox` (`seq`, `id`, `at`, `topic`, `key`, `shard_key`, `type`, `headers`, `payload`) VALUES (16, x'01a219d32e2e734b92691772a46c1c6d', 1795729600046990, x'74', x'6f6c642d30', x'', x'', NULL, x'30316132313964332d326532652d373334622d393236392d313737326134366331633664')
;;
INSERT INTO `postbag_outbox` (`seq`, `id`, `at`, `topic`, `key`, `shard_key`, `type`, `headers`, `payload`) VALUES (17, x'01a219d32e2f768dbb042296fcfd11d1', 1795729600047856, x'74', x'6f6c642d31', x'', x'', NULL, x'30316132313964332d326532662d373638642d626230342d323239366663666431316431')
;;
INSERT INTO `postbag_outbox` (`seq`, `id`, `at`, `topic`, `key`, `shard_key`, `type`, `headers`, `payload`) VALUES (18, x'01a219d32e3072ce80ee2030bd8d6f9a', 1795729600048485, x'74', x'6f6c642d32', x'', x'', NULL, x'30316132313964332d326533302d373263652d383065652d323033306264386436663961')
;;
INSERT INTO `postbag_outbox` (`seq`, `id`, `at`, `topic`, `key`, `shard_key`, `type`, `headers`, `payload`) VALUES (19, x'01a219d32e3072ce81160dee1e94dab8', 1795729600049155, x'74', x'6f6c642d33', x'', x'', NULL, x'30316132313964332d326533302d373263652d383131362d306465653165393464616238')
;;
INSERT INTO `postbag_outbox` (`seq`, `id`, `at`, `topic`, `key`, `shard_key`, `type`, `headers`, `payload`) VALUES (20, x'01a219d32e3176548cad94207951c96d', 1795729600049753, x'74', x'6f6c642d34', x'', x'', NULL, x'30316132313964332d326533312d373635342d386361642d393432303739353163393664')
;;
CREATE TABLE `postbag__audit` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `at` bigint(20) NOT NULL,
  `who` mediumblob NOT NULL,
  `why` mediumblob NOT NULL,
  `what` mediumblob NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci
;;
CREATE TABLE `postbag__box` (
  `name` varbinary(64) NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `swept` bigint(20) NOT NULL DEFAULT 0,
  `witness` bigint(20) NOT NULL DEFAULT 0,
  `witness_id` binary(16) DEFAULT NULL,
  `keep_delivered` bigint(20) NOT NULL DEFAULT 0,
  `keep_discarded` bigint(20) NOT NULL DEFAULT 0,
  `keep_dead` bigint(20) NOT NULL DEFAULT 0,
  `deployed_delivered` bigint(20) NOT NULL DEFAULT 0,
  `deployed_discarded` bigint(20) NOT NULL DEFAULT 0,
  `deployed_dead` bigint(20) NOT NULL DEFAULT 0,
  `deployed_at` bigint(20) NOT NULL DEFAULT 0,
  `deployed_by` varbinary(1024) NOT NULL DEFAULT '',
  PRIMARY KEY (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci
;;
INSERT INTO `postbag__box` (`name`, `created_at`, `swept`, `witness`, `witness_id`, `keep_delivered`, `keep_discarded`, `keep_dead`, `deployed_delivered`, `deployed_discarded`, `deployed_dead`, `deployed_at`, `deployed_by`) VALUES (x'6f7574626f78', 1795729599936484, 0, 0, NULL, 0, 0, 0, 0, 0, 0, 0, x'')
;;
CREATE TABLE `postbag__command` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `subscription` bigint(20) NOT NULL,
  `seq` bigint(20) NOT NULL,
  `kind` tinyint(4) NOT NULL,
  `pending` tinyint(4) NOT NULL DEFAULT 0,
  PRIMARY KEY (`id`),
  UNIQUE KEY `postbag__command_once` (`subscription`,`seq`,`kind`),
  KEY `postbag__command_order` (`subscription`,`id`),
  KEY `postbag__command_pending` (`subscription`,`pending`,`id`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci
;;
CREATE TABLE `postbag__consumer` (
  `name` varbinary(120) NOT NULL,
  `keep` bigint(20) NOT NULL,
  PRIMARY KEY (`name`),
  CONSTRAINT `postbag__consumer__name` CHECK (octet_length(`name`) between 1 and 100),
  CONSTRAINT `postbag__consumer__keep` CHECK (`keep` >= 60000000)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci
;;
CREATE TABLE `postbag__discarded` (
  `subscription` bigint(20) NOT NULL,
  `seq` bigint(20) NOT NULL,
  PRIMARY KEY (`subscription`,`seq`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci
;;
CREATE TABLE `postbag__floor` (
  `box` varbinary(64) NOT NULL,
  `seq` bigint(20) NOT NULL,
  `at` bigint(20) NOT NULL,
  PRIMARY KEY (`box`,`seq`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci
;;
CREATE TABLE `postbag__forgetting` (
  `one` tinyint(4) NOT NULL,
  `consumer` varbinary(120) NOT NULL,
  `id` varbinary(300) NOT NULL,
  `token` bigint(20) NOT NULL,
  `expires` bigint(20) NOT NULL,
  PRIMARY KEY (`one`),
  CONSTRAINT `postbag__forgetting__one` CHECK (`one` = 1)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci
;;
INSERT INTO `postbag__forgetting` (`one`, `consumer`, `id`, `token`, `expires`) VALUES (1, x'', x'', 0, 0)
;;
CREATE TABLE `postbag__lane` (
  `lane` varbinary(600) NOT NULL,
  `epoch` bigint(20) NOT NULL,
  `writes` int(10) unsigned NOT NULL DEFAULT 0,
  `record` mediumblob DEFAULT NULL,
  PRIMARY KEY (`lane`),
  CONSTRAINT `postbag__lane__lane` CHECK (octet_length(`lane`) between 1 and 500),
  CONSTRAINT `postbag__lane__epoch` CHECK (`epoch` > 0),
  CONSTRAINT `postbag__lane__record` CHECK (`record` is null or octet_length(`record`) <= 524288)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci
;;
CREATE TABLE `postbag__ledger` (
  `subscription` bigint(20) NOT NULL,
  `span` bigint(20) NOT NULL,
  `fate` tinyint(4) NOT NULL,
  `lo` int(11) NOT NULL,
  `count` bigint(20) NOT NULL,
  `seq_hi` bigint(20) NOT NULL,
  `seq_lo` bigint(20) NOT NULL,
  `id_hi` bigint(20) NOT NULL,
  `id_lo` bigint(20) NOT NULL,
  PRIMARY KEY (`subscription`,`span`,`fate`,`lo`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci
;;
CREATE TABLE `postbag__life` (
  `one` tinyint(4) NOT NULL,
  `life` bigint(20) unsigned NOT NULL,
  PRIMARY KEY (`one`)
) ENGINE=MEMORY DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci
;;
CREATE TABLE `postbag__lock` (
  `n` int(11) NOT NULL,
  `unused` tinyint(4) DEFAULT NULL,
  PRIMARY KEY (`n`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (0, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (5, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (6, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (7, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (8, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (9, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (10, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (11, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (12, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (13, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (14, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (15, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (16, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (17, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (18, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (19, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (20, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (21, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (22, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (23, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (24, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (25, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (26, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (27, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (28, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (29, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (30, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (31, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (32, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (33, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (34, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (35, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (36, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (37, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (38, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (39, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (40, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (41, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (42, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (43, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (44, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (45, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (46, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (47, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (48, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (49, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (50, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (51, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (52, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (53, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (54, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (55, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (56, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (57, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (58, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (59, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (60, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (61, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (62, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (63, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (64, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (65, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (66, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (67, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (68, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (69, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (70, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (71, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (72, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (73, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (74, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (75, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (76, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (77, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (78, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (79, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (80, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (81, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (82, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (83, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (84, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (85, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (86, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (87, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (88, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (89, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (90, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (91, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (92, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (93, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (94, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (95, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (96, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (97, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (98, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (99, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (100, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (101, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (102, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (103, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (104, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (105, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (106, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (107, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (108, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (109, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (110, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (111, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (112, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (113, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (114, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (115, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (116, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (117, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (118, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (119, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (120, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (121, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (122, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (123, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (124, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (125, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (126, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (127, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (128, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (129, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (130, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (131, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (132, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (133, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (134, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (135, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (136, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (137, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (138, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (139, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (140, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (141, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (142, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (143, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (144, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (145, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (146, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (147, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (148, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (149, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (150, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (151, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (152, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (153, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (154, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (155, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (156, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (157, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (158, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (159, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (160, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (161, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (162, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (163, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (164, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (165, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (166, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (167, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (168, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (169, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (170, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (171, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (172, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (173, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (174, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (175, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (176, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (177, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (178, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (179, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (180, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (181, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (182, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (183, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (184, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (185, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (186, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (187, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (188, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (189, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (190, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (191, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (192, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (193, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (194, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (195, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (196, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (197, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (198, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (199, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (200, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (201, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (202, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (203, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (204, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (205, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (206, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (207, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (208, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (209, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (210, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (211, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (212, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (213, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (214, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (215, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (216, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (217, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (218, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (219, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (220, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (221, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (222, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (223, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (224, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (225, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (226, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (227, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (228, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (229, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (230, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (231, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (232, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (233, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (234, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (235, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (236, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (237, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (238, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (239, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (240, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (241, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (242, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (243, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (244, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (245, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (246, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (247, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (248, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (249, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (250, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (251, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (252, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (253, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (254, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (255, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (256, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (257, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (258, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (259, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (260, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (261, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (262, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (263, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (264, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (265, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (266, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (267, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (268, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (269, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (270, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (271, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (272, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (273, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (274, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (275, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (276, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (277, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (278, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (279, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (280, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (281, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (282, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (283, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (284, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (285, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (286, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (287, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (288, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (289, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (290, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (291, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (292, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (293, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (294, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (295, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (296, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (297, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (298, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (299, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (300, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (301, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (302, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (303, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (304, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (305, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (306, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (307, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (308, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (309, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (310, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (311, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (312, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (313, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (314, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (315, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (316, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (317, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (318, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (319, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (320, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (321, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (322, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (323, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (324, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (325, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (326, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (327, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (328, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (329, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (330, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (331, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (332, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (333, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (334, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (335, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (336, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (337, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (338, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (339, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (340, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (341, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (342, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (343, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (344, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (345, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (346, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (347, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (348, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (349, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (350, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (351, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (352, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (353, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (354, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (355, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (356, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (357, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (358, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (359, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (360, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (361, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (362, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (363, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (364, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (365, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (366, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (367, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (368, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (369, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (370, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (371, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (372, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (373, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (374, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (375, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (376, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (377, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (378, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (379, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (380, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (381, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (382, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (383, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (384, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (385, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (386, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (387, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (388, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (389, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (390, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (391, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (392, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (393, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (394, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (395, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (396, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (397, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (398, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (399, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (400, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (401, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (402, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (403, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (404, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (405, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (406, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (407, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (408, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (409, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (410, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (411, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (412, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (413, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (414, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (415, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (416, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (417, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (418, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (419, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (420, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (421, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (422, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (423, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (424, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (425, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (426, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (427, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (428, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (429, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (430, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (431, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (432, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (433, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (434, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (435, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (436, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (437, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (438, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (439, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (440, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (441, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (442, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (443, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (444, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (445, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (446, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (447, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (448, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (449, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (450, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (451, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (452, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (453, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (454, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (455, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (456, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (457, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (458, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (459, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (460, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (461, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (462, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (463, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (464, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (465, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (466, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (467, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (468, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (469, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (470, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (471, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (472, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (473, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (474, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (475, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (476, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (477, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (478, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (479, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (480, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (481, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (482, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (483, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (484, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (485, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (486, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (487, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (488, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (489, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (490, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (491, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (492, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (493, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (494, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (495, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (496, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (497, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (498, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (499, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (500, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (501, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (502, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (503, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (504, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (505, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (506, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (507, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (508, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (509, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (510, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (511, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (512, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (513, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (514, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (515, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (516, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (517, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (518, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (519, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (520, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (521, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (522, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (523, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (524, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (525, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (526, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (527, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (528, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (529, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (530, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (531, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (532, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (533, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (534, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (535, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (536, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (537, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (538, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (539, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (540, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (541, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (542, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (543, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (544, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (545, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (546, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (547, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (548, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (549, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (550, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (551, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (552, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (553, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (554, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (555, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (556, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (557, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (558, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (559, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (560, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (561, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (562, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (563, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (564, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (565, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (566, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (567, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (568, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (569, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (570, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (571, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (572, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (573, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (574, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (575, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (576, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (577, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (578, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (579, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (580, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (581, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (582, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (583, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (584, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (585, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (586, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (587, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (588, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (589, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (590, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (591, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (592, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (593, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (594, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (595, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (596, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (597, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (598, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (599, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (600, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (601, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (602, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (603, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (604, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (605, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (606, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (607, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (608, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (609, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (610, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (611, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (612, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (613, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (614, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (615, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (616, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (617, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (618, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (619, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (620, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (621, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (622, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (623, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (624, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (625, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (626, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (627, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (628, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (629, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (630, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (631, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (632, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (633, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (634, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (635, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (636, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (637, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (638, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (639, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (640, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (641, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (642, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (643, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (644, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (645, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (646, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (647, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (648, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (649, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (650, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (651, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (652, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (653, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (654, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (655, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (656, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (657, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (658, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (659, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (660, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (661, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (662, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (663, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (664, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (665, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (666, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (667, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (668, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (669, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (670, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (671, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (672, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (673, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (674, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (675, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (676, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (677, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (678, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (679, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (680, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (681, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (682, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (683, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (684, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (685, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (686, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (687, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (688, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (689, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (690, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (691, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (692, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (693, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (694, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (695, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (696, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (697, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (698, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (699, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (700, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (701, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (702, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (703, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (704, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (705, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (706, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (707, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (708, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (709, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (710, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (711, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (712, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (713, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (714, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (715, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (716, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (717, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (718, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (719, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (720, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (721, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (722, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (723, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (724, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (725, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (726, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (727, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (728, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (729, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (730, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (731, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (732, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (733, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (734, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (735, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (736, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (737, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (738, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (739, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (740, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (741, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (742, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (743, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (744, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (745, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (746, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (747, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (748, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (749, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (750, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (751, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (752, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (753, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (754, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (755, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (756, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (757, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (758, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (759, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (760, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (761, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (762, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (763, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (764, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (765, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (766, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (767, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (768, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (769, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (770, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (771, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (772, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (773, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (774, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (775, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (776, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (777, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (778, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (779, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (780, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (781, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (782, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (783, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (784, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (785, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (786, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (787, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (788, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (789, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (790, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (791, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (792, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (793, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (794, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (795, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (796, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (797, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (798, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (799, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (800, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (801, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (802, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (803, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (804, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (805, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (806, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (807, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (808, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (809, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (810, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (811, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (812, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (813, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (814, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (815, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (816, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (817, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (818, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (819, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (820, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (821, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (822, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (823, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (824, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (825, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (826, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (827, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (828, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (829, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (830, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (831, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (832, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (833, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (834, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (835, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (836, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (837, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (838, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (839, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (840, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (841, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (842, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (843, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (844, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (845, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (846, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (847, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (848, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (849, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (850, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (851, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (852, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (853, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (854, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (855, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (856, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (857, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (858, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (859, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (860, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (861, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (862, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (863, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (864, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (865, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (866, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (867, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (868, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (869, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (870, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (871, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (872, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (873, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (874, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (875, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (876, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (877, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (878, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (879, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (880, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (881, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (882, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (883, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (884, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (885, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (886, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (887, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (888, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (889, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (890, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (891, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (892, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (893, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (894, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (895, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (896, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (897, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (898, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (899, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (900, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (901, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (902, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (903, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (904, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (905, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (906, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (907, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (908, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (909, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (910, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (911, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (912, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (913, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (914, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (915, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (916, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (917, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (918, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (919, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (920, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (921, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (922, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (923, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (924, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (925, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (926, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (927, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (928, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (929, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (930, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (931, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (932, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (933, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (934, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (935, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (936, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (937, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (938, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (939, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (940, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (941, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (942, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (943, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (944, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (945, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (946, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (947, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (948, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (949, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (950, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (951, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (952, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (953, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (954, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (955, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (956, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (957, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (958, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (959, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (960, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (961, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (962, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (963, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (964, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (965, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (966, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (967, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (968, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (969, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (970, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (971, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (972, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (973, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (974, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (975, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (976, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (977, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (978, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (979, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (980, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (981, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (982, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (983, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (984, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (985, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (986, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (987, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (988, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (989, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (990, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (991, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (992, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (993, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (994, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (995, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (996, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (997, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (998, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (999, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1000, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1001, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1002, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1003, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1004, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1005, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1006, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1007, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1008, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1009, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1010, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1011, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1012, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1013, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1014, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1015, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1016, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1017, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1018, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1019, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1020, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1021, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1022, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1023, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1024, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1025, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1026, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1027, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1028, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1029, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1030, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1031, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1032, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1033, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1034, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1035, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1036, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1037, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1038, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1039, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1040, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1041, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1042, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1043, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1044, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1045, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1046, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1047, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1048, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1049, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1050, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1051, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1052, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1053, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1054, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1055, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1056, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1057, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1058, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1059, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1060, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1061, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1062, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1063, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1064, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1065, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1066, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1067, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1068, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1069, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1070, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1071, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1072, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1073, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1074, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1075, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1076, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1077, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1078, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1079, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1080, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1081, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1082, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1083, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1084, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1085, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1086, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1087, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1088, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1089, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1090, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1091, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1092, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1093, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1094, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1095, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1096, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1097, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1098, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1099, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1100, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1101, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1102, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1103, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1104, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1105, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1106, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1107, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1108, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1109, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1110, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1111, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1112, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1113, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1114, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1115, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1116, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1117, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1118, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1119, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1120, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1121, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1122, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1123, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1124, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1125, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1126, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1127, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1128, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1129, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1130, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1131, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1132, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1133, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1134, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1135, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1136, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1137, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1138, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1139, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1140, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1141, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1142, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1143, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1144, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1145, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1146, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1147, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1148, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1149, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1150, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1151, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1152, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1153, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1154, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1155, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1156, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1157, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1158, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1159, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1160, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1161, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1162, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1163, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1164, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1165, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1166, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1167, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1168, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1169, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1170, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1171, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1172, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1173, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1174, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1175, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1176, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1177, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1178, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1179, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1180, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1181, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1182, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1183, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1184, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1185, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1186, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1187, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1188, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1189, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1190, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1191, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1192, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1193, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1194, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1195, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1196, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1197, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1198, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1199, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1200, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1201, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1202, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1203, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1204, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1205, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1206, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1207, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1208, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1209, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1210, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1211, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1212, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1213, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1214, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1215, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1216, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1217, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1218, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1219, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1220, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1221, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1222, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1223, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1224, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1225, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1226, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1227, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1228, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1229, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1230, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1231, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1232, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1233, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1234, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1235, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1236, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1237, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1238, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1239, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1240, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1241, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1242, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1243, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1244, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1245, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1246, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1247, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1248, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1249, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1250, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1251, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1252, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1253, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1254, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1255, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1256, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1257, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1258, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1259, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1260, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1261, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1262, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1263, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1264, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1265, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1266, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1267, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1268, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1269, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1270, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1271, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1272, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1273, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1274, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1275, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1276, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1277, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1278, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1279, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1280, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1281, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1282, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1283, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1284, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1285, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1286, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1287, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1288, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1289, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1290, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1291, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1292, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1293, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1294, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1295, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1296, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1297, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1298, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1299, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1300, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1301, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1302, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1303, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1304, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1305, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1306, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1307, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1308, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1309, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1310, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1311, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1312, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1313, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1314, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1315, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1316, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1317, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1318, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1319, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1320, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1321, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1322, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1323, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1324, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1325, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1326, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1327, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1328, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1329, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1330, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1331, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1332, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1333, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1334, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1335, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1336, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1337, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1338, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1339, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1340, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1341, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1342, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1343, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1344, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1345, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1346, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1347, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1348, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1349, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1350, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1351, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1352, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1353, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1354, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1355, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1356, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1357, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1358, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1359, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1360, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1361, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1362, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1363, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1364, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1365, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1366, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1367, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1368, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1369, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1370, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1371, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1372, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1373, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1374, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1375, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1376, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1377, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1378, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1379, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1380, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1381, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1382, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1383, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1384, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1385, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1386, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1387, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1388, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1389, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1390, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1391, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1392, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1393, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1394, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1395, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1396, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1397, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1398, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1399, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1400, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1401, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1402, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1403, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1404, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1405, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1406, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1407, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1408, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1409, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1410, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1411, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1412, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1413, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1414, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1415, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1416, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1417, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1418, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1419, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1420, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1421, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1422, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1423, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1424, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1425, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1426, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1427, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1428, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1429, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1430, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1431, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1432, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1433, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1434, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1435, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1436, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1437, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1438, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1439, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1440, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1441, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1442, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1443, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1444, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1445, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1446, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1447, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1448, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1449, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1450, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1451, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1452, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1453, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1454, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1455, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1456, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1457, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1458, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1459, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1460, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1461, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1462, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1463, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1464, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1465, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1466, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1467, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1468, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1469, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1470, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1471, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1472, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1473, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1474, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1475, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1476, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1477, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1478, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1479, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1480, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1481, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1482, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1483, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1484, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1485, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1486, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1487, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1488, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1489, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1490, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1491, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1492, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1493, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1494, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1495, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1496, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1497, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1498, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1499, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1500, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1501, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1502, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1503, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1504, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1505, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1506, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1507, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1508, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1509, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1510, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1511, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1512, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1513, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1514, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1515, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1516, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1517, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1518, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1519, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1520, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1521, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1522, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1523, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1524, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1525, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1526, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1527, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1528, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1529, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1530, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1531, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1532, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1533, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1534, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1535, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1536, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1537, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1538, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1539, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1540, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1541, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1542, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1543, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1544, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1545, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1546, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1547, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1548, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1549, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1550, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1551, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1552, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1553, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1554, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1555, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1556, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1557, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1558, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1559, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1560, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1561, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1562, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1563, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1564, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1565, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1566, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1567, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1568, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1569, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1570, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1571, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1572, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1573, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1574, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1575, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1576, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1577, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1578, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1579, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1580, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1581, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1582, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1583, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1584, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1585, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1586, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1587, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1588, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1589, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1590, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1591, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1592, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1593, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1594, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1595, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1596, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1597, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1598, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1599, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1600, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1601, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1602, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1603, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1604, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1605, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1606, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1607, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1608, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1609, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1610, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1611, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1612, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1613, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1614, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1615, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1616, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1617, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1618, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1619, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1620, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1621, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1622, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1623, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1624, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1625, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1626, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1627, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1628, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1629, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1630, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1631, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1632, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1633, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1634, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1635, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1636, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1637, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1638, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1639, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1640, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1641, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1642, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1643, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1644, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1645, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1646, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1647, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1648, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1649, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1650, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1651, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1652, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1653, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1654, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1655, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1656, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1657, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1658, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1659, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1660, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1661, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1662, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1663, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1664, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1665, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1666, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1667, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1668, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1669, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1670, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1671, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1672, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1673, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1674, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1675, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1676, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1677, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1678, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1679, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1680, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1681, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1682, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1683, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1684, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1685, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1686, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1687, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1688, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1689, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1690, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1691, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1692, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1693, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1694, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1695, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1696, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1697, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1698, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1699, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1700, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1701, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1702, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1703, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1704, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1705, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1706, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1707, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1708, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1709, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1710, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1711, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1712, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1713, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1714, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1715, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1716, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1717, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1718, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1719, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1720, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1721, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1722, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1723, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1724, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1725, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1726, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1727, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1728, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1729, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1730, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1731, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1732, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1733, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1734, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1735, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1736, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1737, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1738, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1739, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1740, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1741, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1742, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1743, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1744, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1745, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1746, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1747, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1748, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1749, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1750, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1751, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1752, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1753, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1754, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1755, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1756, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1757, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1758, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1759, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1760, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1761, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1762, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1763, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1764, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1765, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1766, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1767, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1768, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1769, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1770, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1771, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1772, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1773, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1774, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1775, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1776, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1777, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1778, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1779, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1780, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1781, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1782, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1783, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1784, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1785, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1786, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1787, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1788, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1789, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1790, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1791, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1792, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1793, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1794, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1795, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1796, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1797, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1798, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1799, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1800, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1801, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1802, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1803, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1804, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1805, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1806, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1807, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1808, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1809, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1810, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1811, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1812, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1813, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1814, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1815, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1816, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1817, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1818, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1819, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1820, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1821, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1822, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1823, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1824, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1825, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1826, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1827, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1828, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1829, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1830, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1831, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1832, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1833, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1834, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1835, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1836, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1837, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1838, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1839, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1840, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1841, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1842, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1843, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1844, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1845, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1846, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1847, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1848, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1849, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1850, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1851, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1852, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1853, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1854, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1855, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1856, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1857, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1858, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1859, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1860, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1861, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1862, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1863, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1864, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1865, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1866, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1867, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1868, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1869, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1870, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1871, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1872, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1873, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1874, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1875, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1876, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1877, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1878, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1879, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1880, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1881, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1882, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1883, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1884, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1885, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1886, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1887, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1888, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1889, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1890, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1891, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1892, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1893, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1894, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1895, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1896, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1897, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1898, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1899, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1900, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1901, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1902, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1903, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1904, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1905, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1906, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1907, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1908, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1909, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1910, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1911, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1912, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1913, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1914, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1915, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1916, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1917, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1918, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1919, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1920, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1921, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1922, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1923, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1924, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1925, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1926, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1927, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1928, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1929, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1930, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1931, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1932, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1933, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1934, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1935, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1936, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1937, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1938, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1939, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1940, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1941, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1942, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1943, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1944, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1945, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1946, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1947, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1948, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1949, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1950, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1951, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1952, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1953, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1954, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1955, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1956, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1957, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1958, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1959, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1960, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1961, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1962, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1963, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1964, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1965, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1966, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1967, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1968, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1969, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1970, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1971, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1972, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1973, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1974, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1975, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1976, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1977, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1978, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1979, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1980, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1981, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1982, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1983, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1984, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1985, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1986, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1987, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1988, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1989, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1990, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1991, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1992, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1993, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1994, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1995, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1996, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1997, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1998, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (1999, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2000, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2001, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2002, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2003, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2004, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2005, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2006, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2007, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2008, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2009, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2010, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2011, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2012, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2013, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2014, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2015, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2016, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2017, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2018, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2019, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2020, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2021, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2022, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2023, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2024, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2025, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2026, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2027, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2028, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2029, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2030, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2031, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2032, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2033, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2034, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2035, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2036, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2037, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2038, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2039, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2040, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2041, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2042, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2043, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2044, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2045, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2046, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2047, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2048, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2049, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2050, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2051, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2052, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2053, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2054, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2055, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2056, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2057, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2058, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2059, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2060, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2061, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2062, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2063, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2064, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2065, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2066, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2067, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2068, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2069, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2070, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2071, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2072, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2073, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2074, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2075, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2076, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2077, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2078, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2079, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2080, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2081, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2082, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2083, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2084, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2085, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2086, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2087, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2088, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2089, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2090, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2091, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2092, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2093, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2094, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2095, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2096, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2097, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2098, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2099, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2100, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2101, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2102, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2103, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2104, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2105, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2106, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2107, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2108, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2109, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2110, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2111, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2112, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2113, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2114, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2115, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2116, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2117, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2118, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2119, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2120, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2121, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2122, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2123, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2124, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2125, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2126, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2127, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2128, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2129, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2130, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2131, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2132, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2133, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2134, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2135, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2136, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2137, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2138, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2139, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2140, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2141, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2142, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2143, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2144, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2145, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2146, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2147, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2148, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2149, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2150, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2151, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2152, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2153, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2154, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2155, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2156, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2157, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2158, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2159, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2160, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2161, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2162, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2163, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2164, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2165, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2166, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2167, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2168, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2169, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2170, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2171, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2172, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2173, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2174, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2175, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2176, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2177, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2178, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2179, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2180, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2181, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2182, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2183, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2184, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2185, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2186, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2187, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2188, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2189, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2190, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2191, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2192, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2193, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2194, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2195, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2196, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2197, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2198, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2199, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2200, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2201, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2202, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2203, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2204, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2205, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2206, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2207, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2208, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2209, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2210, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2211, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2212, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2213, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2214, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2215, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2216, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2217, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2218, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2219, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2220, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2221, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2222, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2223, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2224, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2225, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2226, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2227, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2228, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2229, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2230, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2231, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2232, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2233, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2234, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2235, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2236, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2237, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2238, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2239, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2240, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2241, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2242, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2243, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2244, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2245, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2246, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2247, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2248, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2249, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2250, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2251, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2252, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2253, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2254, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2255, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2256, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2257, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2258, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2259, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2260, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2261, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2262, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2263, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2264, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2265, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2266, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2267, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2268, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2269, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2270, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2271, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2272, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2273, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2274, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2275, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2276, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2277, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2278, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2279, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2280, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2281, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2282, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2283, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2284, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2285, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2286, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2287, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2288, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2289, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2290, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2291, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2292, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2293, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2294, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2295, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2296, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2297, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2298, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2299, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2300, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2301, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2302, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2303, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2304, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2305, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2306, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2307, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2308, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2309, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2310, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2311, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2312, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2313, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2314, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2315, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2316, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2317, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2318, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2319, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2320, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2321, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2322, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2323, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2324, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2325, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2326, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2327, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2328, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2329, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2330, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2331, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2332, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2333, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2334, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2335, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2336, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2337, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2338, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2339, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2340, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2341, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2342, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2343, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2344, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2345, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2346, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2347, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2348, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2349, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2350, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2351, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2352, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2353, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2354, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2355, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2356, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2357, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2358, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2359, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2360, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2361, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2362, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2363, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2364, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2365, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2366, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2367, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2368, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2369, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2370, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2371, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2372, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2373, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2374, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2375, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2376, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2377, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2378, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2379, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2380, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2381, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2382, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2383, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2384, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2385, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2386, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2387, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2388, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2389, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2390, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2391, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2392, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2393, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2394, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2395, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2396, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2397, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2398, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2399, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2400, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2401, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2402, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2403, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2404, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2405, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2406, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2407, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2408, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2409, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2410, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2411, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2412, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2413, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2414, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2415, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2416, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2417, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2418, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2419, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2420, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2421, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2422, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2423, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2424, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2425, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2426, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2427, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2428, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2429, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2430, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2431, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2432, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2433, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2434, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2435, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2436, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2437, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2438, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2439, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2440, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2441, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2442, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2443, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2444, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2445, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2446, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2447, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2448, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2449, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2450, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2451, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2452, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2453, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2454, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2455, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2456, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2457, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2458, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2459, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2460, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2461, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2462, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2463, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2464, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2465, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2466, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2467, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2468, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2469, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2470, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2471, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2472, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2473, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2474, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2475, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2476, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2477, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2478, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2479, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2480, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2481, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2482, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2483, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2484, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2485, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2486, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2487, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2488, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2489, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2490, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2491, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2492, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2493, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2494, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2495, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2496, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2497, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2498, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2499, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2500, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2501, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2502, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2503, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2504, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2505, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2506, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2507, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2508, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2509, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2510, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2511, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2512, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2513, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2514, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2515, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2516, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2517, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2518, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2519, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2520, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2521, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2522, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2523, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2524, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2525, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2526, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2527, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2528, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2529, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2530, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2531, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2532, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2533, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2534, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2535, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2536, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2537, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2538, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2539, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2540, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2541, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2542, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2543, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2544, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2545, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2546, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2547, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2548, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2549, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2550, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2551, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2552, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2553, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2554, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2555, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2556, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2557, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2558, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2559, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2560, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2561, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2562, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2563, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2564, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2565, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2566, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2567, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2568, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2569, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2570, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2571, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2572, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2573, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2574, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2575, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2576, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2577, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2578, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2579, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2580, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2581, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2582, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2583, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2584, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2585, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2586, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2587, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2588, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2589, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2590, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2591, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2592, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2593, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2594, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2595, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2596, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2597, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2598, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2599, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2600, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2601, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2602, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2603, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2604, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2605, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2606, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2607, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2608, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2609, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2610, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2611, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2612, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2613, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2614, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2615, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2616, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2617, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2618, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2619, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2620, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2621, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2622, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2623, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2624, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2625, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2626, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2627, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2628, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2629, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2630, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2631, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2632, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2633, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2634, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2635, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2636, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2637, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2638, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2639, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2640, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2641, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2642, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2643, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2644, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2645, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2646, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2647, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2648, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2649, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2650, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2651, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2652, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2653, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2654, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2655, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2656, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2657, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2658, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2659, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2660, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2661, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2662, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2663, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2664, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2665, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2666, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2667, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2668, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2669, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2670, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2671, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2672, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2673, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2674, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2675, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2676, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2677, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2678, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2679, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2680, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2681, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2682, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2683, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2684, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2685, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2686, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2687, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2688, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2689, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2690, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2691, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2692, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2693, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2694, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2695, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2696, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2697, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2698, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2699, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2700, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2701, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2702, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2703, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2704, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2705, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2706, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2707, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2708, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2709, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2710, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2711, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2712, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2713, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2714, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2715, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2716, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2717, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2718, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2719, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2720, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2721, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2722, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2723, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2724, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2725, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2726, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2727, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2728, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2729, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2730, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2731, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2732, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2733, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2734, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2735, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2736, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2737, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2738, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2739, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2740, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2741, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2742, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2743, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2744, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2745, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2746, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2747, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2748, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2749, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2750, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2751, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2752, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2753, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2754, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2755, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2756, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2757, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2758, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2759, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2760, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2761, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2762, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2763, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2764, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2765, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2766, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2767, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2768, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2769, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2770, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2771, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2772, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2773, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2774, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2775, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2776, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2777, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2778, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2779, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2780, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2781, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2782, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2783, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2784, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2785, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2786, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2787, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2788, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2789, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2790, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2791, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2792, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2793, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2794, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2795, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2796, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2797, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2798, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2799, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2800, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2801, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2802, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2803, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2804, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2805, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2806, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2807, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2808, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2809, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2810, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2811, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2812, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2813, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2814, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2815, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2816, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2817, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2818, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2819, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2820, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2821, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2822, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2823, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2824, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2825, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2826, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2827, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2828, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2829, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2830, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2831, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2832, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2833, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2834, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2835, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2836, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2837, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2838, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2839, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2840, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2841, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2842, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2843, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2844, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2845, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2846, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2847, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2848, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2849, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2850, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2851, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2852, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2853, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2854, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2855, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2856, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2857, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2858, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2859, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2860, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2861, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2862, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2863, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2864, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2865, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2866, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2867, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2868, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2869, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2870, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2871, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2872, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2873, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2874, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2875, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2876, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2877, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2878, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2879, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2880, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2881, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2882, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2883, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2884, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2885, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2886, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2887, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2888, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2889, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2890, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2891, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2892, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2893, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2894, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2895, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2896, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2897, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2898, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2899, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2900, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2901, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2902, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2903, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2904, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2905, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2906, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2907, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2908, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2909, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2910, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2911, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2912, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2913, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2914, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2915, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2916, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2917, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2918, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2919, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2920, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2921, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2922, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2923, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2924, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2925, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2926, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2927, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2928, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2929, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2930, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2931, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2932, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2933, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2934, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2935, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2936, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2937, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2938, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2939, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2940, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2941, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2942, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2943, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2944, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2945, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2946, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2947, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2948, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2949, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2950, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2951, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2952, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2953, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2954, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2955, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2956, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2957, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2958, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2959, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2960, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2961, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2962, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2963, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2964, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2965, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2966, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2967, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2968, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2969, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2970, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2971, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2972, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2973, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2974, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2975, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2976, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2977, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2978, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2979, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2980, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2981, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2982, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2983, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2984, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2985, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2986, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2987, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2988, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2989, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2990, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2991, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2992, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2993, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2994, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2995, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2996, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2997, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2998, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (2999, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3000, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3001, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3002, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3003, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3004, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3005, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3006, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3007, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3008, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3009, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3010, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3011, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3012, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3013, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3014, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3015, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3016, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3017, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3018, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3019, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3020, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3021, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3022, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3023, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3024, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3025, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3026, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3027, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3028, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3029, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3030, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3031, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3032, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3033, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3034, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3035, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3036, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3037, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3038, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3039, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3040, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3041, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3042, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3043, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3044, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3045, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3046, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3047, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3048, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3049, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3050, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3051, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3052, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3053, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3054, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3055, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3056, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3057, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3058, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3059, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3060, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3061, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3062, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3063, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3064, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3065, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3066, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3067, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3068, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3069, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3070, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3071, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3072, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3073, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3074, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3075, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3076, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3077, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3078, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3079, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3080, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3081, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3082, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3083, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3084, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3085, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3086, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3087, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3088, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3089, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3090, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3091, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3092, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3093, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3094, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3095, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3096, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3097, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3098, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3099, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3100, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3101, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3102, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3103, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3104, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3105, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3106, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3107, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3108, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3109, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3110, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3111, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3112, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3113, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3114, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3115, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3116, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3117, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3118, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3119, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3120, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3121, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3122, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3123, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3124, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3125, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3126, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3127, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3128, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3129, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3130, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3131, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3132, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3133, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3134, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3135, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3136, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3137, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3138, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3139, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3140, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3141, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3142, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3143, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3144, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3145, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3146, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3147, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3148, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3149, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3150, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3151, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3152, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3153, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3154, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3155, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3156, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3157, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3158, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3159, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3160, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3161, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3162, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3163, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3164, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3165, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3166, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3167, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3168, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3169, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3170, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3171, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3172, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3173, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3174, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3175, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3176, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3177, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3178, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3179, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3180, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3181, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3182, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3183, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3184, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3185, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3186, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3187, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3188, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3189, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3190, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3191, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3192, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3193, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3194, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3195, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3196, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3197, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3198, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3199, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3200, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3201, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3202, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3203, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3204, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3205, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3206, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3207, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3208, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3209, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3210, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3211, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3212, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3213, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3214, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3215, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3216, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3217, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3218, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3219, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3220, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3221, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3222, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3223, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3224, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3225, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3226, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3227, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3228, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3229, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3230, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3231, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3232, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3233, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3234, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3235, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3236, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3237, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3238, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3239, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3240, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3241, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3242, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3243, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3244, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3245, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3246, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3247, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3248, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3249, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3250, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3251, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3252, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3253, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3254, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3255, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3256, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3257, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3258, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3259, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3260, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3261, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3262, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3263, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3264, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3265, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3266, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3267, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3268, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3269, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3270, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3271, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3272, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3273, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3274, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3275, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3276, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3277, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3278, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3279, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3280, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3281, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3282, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3283, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3284, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3285, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3286, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3287, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3288, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3289, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3290, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3291, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3292, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3293, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3294, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3295, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3296, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3297, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3298, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3299, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3300, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3301, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3302, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3303, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3304, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3305, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3306, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3307, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3308, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3309, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3310, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3311, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3312, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3313, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3314, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3315, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3316, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3317, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3318, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3319, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3320, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3321, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3322, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3323, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3324, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3325, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3326, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3327, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3328, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3329, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3330, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3331, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3332, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3333, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3334, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3335, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3336, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3337, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3338, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3339, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3340, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3341, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3342, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3343, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3344, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3345, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3346, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3347, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3348, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3349, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3350, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3351, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3352, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3353, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3354, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3355, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3356, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3357, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3358, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3359, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3360, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3361, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3362, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3363, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3364, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3365, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3366, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3367, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3368, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3369, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3370, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3371, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3372, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3373, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3374, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3375, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3376, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3377, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3378, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3379, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3380, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3381, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3382, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3383, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3384, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3385, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3386, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3387, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3388, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3389, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3390, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3391, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3392, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3393, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3394, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3395, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3396, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3397, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3398, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3399, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3400, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3401, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3402, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3403, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3404, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3405, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3406, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3407, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3408, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3409, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3410, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3411, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3412, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3413, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3414, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3415, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3416, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3417, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3418, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3419, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3420, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3421, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3422, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3423, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3424, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3425, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3426, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3427, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3428, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3429, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3430, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3431, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3432, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3433, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3434, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3435, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3436, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3437, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3438, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3439, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3440, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3441, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3442, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3443, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3444, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3445, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3446, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3447, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3448, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3449, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3450, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3451, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3452, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3453, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3454, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3455, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3456, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3457, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3458, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3459, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3460, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3461, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3462, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3463, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3464, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3465, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3466, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3467, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3468, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3469, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3470, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3471, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3472, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3473, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3474, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3475, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3476, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3477, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3478, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3479, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3480, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3481, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3482, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3483, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3484, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3485, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3486, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3487, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3488, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3489, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3490, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3491, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3492, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3493, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3494, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3495, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3496, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3497, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3498, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3499, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3500, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3501, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3502, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3503, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3504, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3505, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3506, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3507, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3508, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3509, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3510, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3511, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3512, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3513, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3514, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3515, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3516, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3517, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3518, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3519, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3520, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3521, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3522, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3523, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3524, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3525, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3526, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3527, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3528, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3529, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3530, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3531, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3532, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3533, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3534, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3535, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3536, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3537, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3538, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3539, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3540, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3541, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3542, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3543, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3544, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3545, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3546, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3547, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3548, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3549, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3550, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3551, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3552, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3553, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3554, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3555, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3556, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3557, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3558, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3559, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3560, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3561, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3562, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3563, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3564, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3565, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3566, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3567, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3568, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3569, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3570, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3571, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3572, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3573, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3574, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3575, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3576, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3577, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3578, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3579, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3580, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3581, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3582, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3583, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3584, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3585, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3586, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3587, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3588, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3589, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3590, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3591, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3592, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3593, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3594, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3595, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3596, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3597, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3598, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3599, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3600, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3601, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3602, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3603, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3604, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3605, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3606, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3607, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3608, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3609, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3610, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3611, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3612, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3613, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3614, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3615, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3616, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3617, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3618, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3619, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3620, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3621, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3622, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3623, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3624, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3625, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3626, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3627, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3628, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3629, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3630, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3631, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3632, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3633, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3634, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3635, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3636, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3637, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3638, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3639, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3640, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3641, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3642, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3643, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3644, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3645, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3646, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3647, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3648, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3649, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3650, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3651, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3652, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3653, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3654, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3655, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3656, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3657, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3658, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3659, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3660, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3661, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3662, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3663, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3664, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3665, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3666, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3667, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3668, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3669, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3670, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3671, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3672, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3673, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3674, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3675, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3676, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3677, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3678, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3679, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3680, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3681, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3682, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3683, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3684, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3685, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3686, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3687, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3688, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3689, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3690, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3691, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3692, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3693, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3694, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3695, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3696, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3697, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3698, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3699, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3700, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3701, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3702, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3703, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3704, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3705, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3706, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3707, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3708, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3709, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3710, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3711, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3712, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3713, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3714, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3715, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3716, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3717, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3718, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3719, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3720, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3721, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3722, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3723, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3724, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3725, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3726, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3727, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3728, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3729, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3730, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3731, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3732, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3733, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3734, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3735, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3736, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3737, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3738, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3739, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3740, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3741, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3742, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3743, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3744, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3745, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3746, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3747, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3748, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3749, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3750, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3751, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3752, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3753, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3754, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3755, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3756, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3757, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3758, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3759, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3760, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3761, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3762, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3763, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3764, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3765, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3766, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3767, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3768, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3769, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3770, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3771, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3772, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3773, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3774, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3775, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3776, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3777, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3778, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3779, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3780, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3781, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3782, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3783, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3784, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3785, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3786, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3787, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3788, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3789, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3790, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3791, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3792, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3793, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3794, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3795, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3796, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3797, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3798, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3799, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3800, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3801, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3802, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3803, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3804, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3805, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3806, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3807, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3808, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3809, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3810, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3811, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3812, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3813, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3814, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3815, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3816, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3817, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3818, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3819, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3820, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3821, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3822, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3823, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3824, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3825, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3826, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3827, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3828, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3829, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3830, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3831, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3832, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3833, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3834, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3835, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3836, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3837, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3838, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3839, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3840, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3841, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3842, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3843, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3844, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3845, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3846, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3847, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3848, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3849, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3850, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3851, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3852, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3853, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3854, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3855, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3856, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3857, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3858, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3859, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3860, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3861, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3862, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3863, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3864, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3865, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3866, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3867, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3868, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3869, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3870, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3871, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3872, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3873, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3874, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3875, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3876, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3877, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3878, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3879, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3880, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3881, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3882, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3883, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3884, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3885, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3886, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3887, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3888, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3889, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3890, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3891, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3892, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3893, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3894, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3895, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3896, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3897, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3898, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3899, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3900, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3901, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3902, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3903, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3904, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3905, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3906, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3907, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3908, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3909, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3910, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3911, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3912, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3913, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3914, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3915, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3916, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3917, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3918, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3919, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3920, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3921, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3922, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3923, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3924, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3925, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3926, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3927, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3928, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3929, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3930, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3931, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3932, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3933, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3934, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3935, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3936, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3937, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3938, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3939, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3940, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3941, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3942, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3943, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3944, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3945, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3946, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3947, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3948, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3949, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3950, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3951, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3952, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3953, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3954, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3955, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3956, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3957, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3958, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3959, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3960, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3961, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3962, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3963, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3964, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3965, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3966, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3967, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3968, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3969, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3970, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3971, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3972, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3973, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3974, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3975, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3976, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3977, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3978, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3979, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3980, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3981, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3982, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3983, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3984, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3985, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3986, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3987, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3988, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3989, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3990, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3991, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3992, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3993, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3994, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3995, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3996, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3997, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3998, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (3999, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4000, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4001, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4002, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4003, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4004, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4005, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4006, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4007, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4008, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4009, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4010, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4011, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4012, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4013, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4014, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4015, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4016, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4017, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4018, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4019, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4020, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4021, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4022, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4023, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4024, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4025, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4026, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4027, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4028, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4029, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4030, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4031, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4032, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4033, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4034, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4035, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4036, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4037, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4038, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4039, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4040, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4041, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4042, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4043, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4044, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4045, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4046, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4047, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4048, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4049, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4050, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4051, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4052, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4053, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4054, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4055, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4056, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4057, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4058, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4059, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4060, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4061, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4062, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4063, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4064, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4065, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4066, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4067, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4068, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4069, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4070, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4071, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4072, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4073, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4074, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4075, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4076, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4077, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4078, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4079, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4080, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4081, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4082, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4083, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4084, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4085, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4086, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4087, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4088, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4089, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4090, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4091, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4092, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4093, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4094, NULL)
;;
INSERT INTO `postbag__lock` (`n`, `unused`) VALUES (4095, NULL)
;;
CREATE TABLE `postbag__meta` (
  `one` tinyint(4) NOT NULL,
  `identity` varbinary(64) NOT NULL,
  `version` int(11) NOT NULL,
  `reader` int(11) NOT NULL,
  `epoch` bigint(20) NOT NULL,
  `token` bigint(20) NOT NULL,
  PRIMARY KEY (`one`),
  CONSTRAINT `postbag__meta__one` CHECK (`one` = 1)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci
;;
INSERT INTO `postbag__meta` (`one`, `identity`, `version`, `reader`, `epoch`, `token`) VALUES (1, x'38363734636332622d356563352d343730362d613539622d623131343966383861666332', 15, 3, 17, 0)
;;
CREATE TABLE `postbag__once` (
  `consumer` varbinary(120) NOT NULL,
  `id` varbinary(300) NOT NULL,
  `sum` varbinary(40) DEFAULT NULL,
  `at` bigint(20) NOT NULL DEFAULT timestampdiff(MICROSECOND,'1970-01-01',utc_timestamp(6)),
  `repeats` int(10) unsigned NOT NULL DEFAULT 0,
  PRIMARY KEY (`consumer`,`id`),
  CONSTRAINT `postbag__once__consumer` CHECK (octet_length(`consumer`) between 1 and 100),
  CONSTRAINT `postbag__once__id` CHECK (octet_length(`id`) between 1 and 255),
  CONSTRAINT `postbag__once__sum` CHECK (`sum` is null or octet_length(`sum`) = 32),
  CONSTRAINT `postbag__once__at` CHECK (`at` > 0)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci
;;
CREATE TABLE `postbag__parked` (
  `subscription` bigint(20) NOT NULL,
  `seq` bigint(20) NOT NULL,
  `slot` int(11) NOT NULL,
  `hash` bigint(20) NOT NULL,
  `state` tinyint(4) NOT NULL,
  `chain` bigint(20) DEFAULT NULL,
  `attempts` int(11) NOT NULL,
  `due` bigint(20) NOT NULL,
  `ready` bigint(20) DEFAULT NULL,
  `first` bigint(20) NOT NULL,
  `reason` varchar(1024) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `history` mediumtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `held` varbinary(300) DEFAULT NULL,
  PRIMARY KEY (`subscription`,`seq`),
  KEY `postbag__parked_chain` (`subscription`,`chain`,`seq`,`slot`),
  KEY `postbag__parked_ready` (`subscription`,`ready`,`seq`),
  KEY `postbag__parked_head` (`subscription`,`chain`,`ready`),
  KEY `postbag__parked_state` (`subscription`,`state`,`seq`),
  KEY `postbag__parked_held` (`subscription`,`held`,`seq`,`slot`,`chain`),
  KEY `postbag__parked_hash` (`subscription`,`hash`,`seq`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci
;;
CREATE TABLE `postbag__partition` (
  `box` varbinary(64) NOT NULL,
  `every` bigint(20) NOT NULL,
  PRIMARY KEY (`box`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci
;;
CREATE TABLE `postbag__past` (
  `subscription` bigint(20) NOT NULL,
  `seq` bigint(20) NOT NULL,
  `attempts` int(11) NOT NULL,
  `reason` varchar(1024) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `history` mediumtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (`subscription`,`seq`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci
;;
CREATE TABLE `postbag__pause` (
  `subscription` bigint(20) NOT NULL,
  `scope` varbinary(20) NOT NULL,
  `held` varbinary(1024) NOT NULL,
  `who` mediumblob NOT NULL,
  `why` mediumblob NOT NULL,
  `began` bigint(20) NOT NULL,
  `ends` bigint(20) NOT NULL DEFAULT 0,
  PRIMARY KEY (`subscription`,`scope`,`held`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci ROW_FORMAT=DYNAMIC
;;
CREATE TABLE `postbag__relay` (
  `id` varbinary(255) NOT NULL,
  `name` varbinary(1024) NOT NULL,
  `works` mediumblob NOT NULL,
  `expires` bigint(20) NOT NULL,
  `dead` tinyint(4) NOT NULL DEFAULT 0,
  `conditions` mediumblob DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci
;;
CREATE TABLE `postbag__removed` (
  `box` varbinary(64) NOT NULL,
  `name` varbinary(255) NOT NULL,
  `at` bigint(20) NOT NULL,
  `who` varbinary(1024) NOT NULL,
  PRIMARY KEY (`box`,`name`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci
;;
CREATE TABLE `postbag__scheduled` (
  `n` bigint(20) NOT NULL AUTO_INCREMENT,
  `box` varbinary(64) NOT NULL,
  `due` bigint(20) NOT NULL,
  `id` binary(16) NOT NULL,
  `at` bigint(20) NOT NULL,
  `topic` varbinary(255) NOT NULL,
  `key` varbinary(1024) NOT NULL,
  `shard_key` varbinary(1024) NOT NULL,
  `type` varbinary(255) NOT NULL,
  `headers` mediumtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `payload` longblob NOT NULL,
  PRIMARY KEY (`n`),
  KEY `postbag__scheduled_due` (`box`,`due`,`n`),
  KEY `postbag__scheduled_id` (`box`,`id`),
  CONSTRAINT `postbag__scheduled__topic` CHECK (`topic` <> ''),
  CONSTRAINT `postbag__scheduled__due` CHECK (`due` between 0 and 253402300799999999 or `due` = 9223372036854775807),
  CONSTRAINT `postbag__scheduled__at` CHECK (`at` between 0 and 253402300799999999)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci
;;
CREATE TABLE `postbag__shard` (
  `subscription` bigint(20) NOT NULL,
  `lo` int(11) NOT NULL,
  `hi` int(11) NOT NULL,
  `owner` varbinary(255) NOT NULL DEFAULT '',
  `token` bigint(20) NOT NULL DEFAULT 0,
  `version` bigint(20) NOT NULL DEFAULT 1,
  `settled` bigint(20) NOT NULL DEFAULT 0,
  `position` varbinary(8192) NOT NULL DEFAULT '',
  PRIMARY KEY (`subscription`,`lo`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci
;;
INSERT INTO `postbag__shard` (`subscription`, `lo`, `hi`, `owner`, `token`, `version`, `settled`, `position`) VALUES (1, 0, 4096, x'', 0, 1, 0, x'')
;;
INSERT INTO `postbag__shard` (`subscription`, `lo`, `hi`, `owner`, `token`, `version`, `settled`, `position`) VALUES (2, 0, 1024, x'', 0, 1, 0, x'')
;;
INSERT INTO `postbag__shard` (`subscription`, `lo`, `hi`, `owner`, `token`, `version`, `settled`, `position`) VALUES (2, 1024, 2048, x'', 0, 1, 0, x'')
;;
INSERT INTO `postbag__shard` (`subscription`, `lo`, `hi`, `owner`, `token`, `version`, `settled`, `position`) VALUES (2, 2048, 3072, x'', 0, 1, 0, x'')
;;
INSERT INTO `postbag__shard` (`subscription`, `lo`, `hi`, `owner`, `token`, `version`, `settled`, `position`) VALUES (2, 3072, 4096, x'', 0, 1, 0, x'')
;;
CREATE TABLE `postbag__subscription` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `box` varbinary(64) NOT NULL,
  `name` varbinary(255) NOT NULL,
  `types` mediumblob NOT NULL,
  `wanted` int(11) NOT NULL,
  `paused` tinyint(4) NOT NULL DEFAULT 0,
  `started` bigint(20) NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `span` bigint(20) NOT NULL,
  `upto` bigint(20) NOT NULL,
  `agreed` bigint(20) NOT NULL,
  `count` bigint(20) NOT NULL DEFAULT 0,
  `seq_sum` bigint(20) NOT NULL DEFAULT 0,
  `id_sum` bigint(20) NOT NULL DEFAULT 0,
  `replay` mediumblob DEFAULT NULL,
  `types_by` varbinary(1024) NOT NULL DEFAULT '',
  `wanted_by` varbinary(1024) NOT NULL DEFAULT '',
  PRIMARY KEY (`id`),
  UNIQUE KEY `postbag__subscription_name` (`box`,`name`)
) ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci
;;
INSERT INTO `postbag__subscription` (`id`, `box`, `name`, `types`, `wanted`, `paused`, `started`, `created_at`, `span`, `upto`, `agreed`, `count`, `seq_sum`, `id_sum`, `replay`, `types_by`, `wanted_by`) VALUES (1, x'6f7574626f78', x'406d61696e74656e616e6365', x'5b5d', 1, 0, 0, 1795729599936484, 0, 0, 0, 0, 0, 0, NULL, x'', x'')
;;
INSERT INTO `postbag__subscription` (`id`, `box`, `name`, `types`, `wanted`, `paused`, `started`, `created_at`, `span`, `upto`, `agreed`, `count`, `seq_sum`, `id_sum`, `replay`, `types_by`, `wanted_by`) VALUES (2, x'6f7574626f78', x'64656661756c74', x'5b5d', 4, 0, 0, 1795729599972293, 0, 0, 0, 0, 0, 0, NULL, x'', x'')
;;
CREATE DEFINER=`root`@`127.0.0.1` PROCEDURE `postbag__cancel`(IN of_box VARBINARY(64), IN message BINARY(16))
    MODIFIES SQL DATA
DELETE s FROM postbag__scheduled s FORCE INDEX (postbag__scheduled_id)
WHERE box = of_box AND id = message AND due > TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
;;
