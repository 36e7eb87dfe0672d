-- Lanes of exactly-once effects (package inbox): the transaction that applies a page of
-- messages writes the record of them. Names are bytes. The column is somewhat wider than
-- what is allowed, as those of postbag__once.
CREATE TABLE IF NOT EXISTS postbag__lane (
	lane   VARBINARY(600) NOT NULL PRIMARY KEY,
	epoch  BIGINT         NOT NULL, -- another one after each opening
	writes INT UNSIGNED   NOT NULL DEFAULT 0, -- each write makes it another number
	record MEDIUMBLOB, -- null: none was written
	CONSTRAINT postbag__lane__lane CHECK (LENGTH(lane) BETWEEN 1 AND 500),
	CONSTRAINT postbag__lane__epoch CHECK (epoch > 0),
	CONSTRAINT postbag__lane__record CHECK (record IS NULL OR LENGTH(record) <= 524288)
) ENGINE = InnoDB;
