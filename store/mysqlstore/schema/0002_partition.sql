-- The boxes whose table is divided into partitions, and how long one is about.
CREATE TABLE IF NOT EXISTS postbag__partition (
	box   VARBINARY(64) NOT NULL PRIMARY KEY,
	every BIGINT        NOT NULL -- microseconds
) ENGINE = InnoDB;
