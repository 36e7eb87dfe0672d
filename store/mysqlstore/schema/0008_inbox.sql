-- Which messages consumers have applied (package inbox), each recorded in the transaction
-- of its effect. Names and ids are bytes. The columns are somewhat wider than what is
-- allowed, so that a session without strict mode, which would cut a longer value silently,
-- runs into the checks.
CREATE TABLE IF NOT EXISTS postbag__once (
	consumer VARBINARY(120) NOT NULL,
	id       VARBINARY(300) NOT NULL,
	`sum`    VARBINARY(40), -- SHA-256 of what the message holds; null: none is compared
	-- Microseconds since 1970, UTC, when the message was marked first.
	at       BIGINT         NOT NULL DEFAULT (TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))),
	-- Zero: it was marked once. Each further mark makes it another number, which is not zero.
	repeats  INT UNSIGNED   NOT NULL DEFAULT 0,
	PRIMARY KEY (consumer, id),
	CONSTRAINT postbag__once__consumer CHECK (LENGTH(consumer) BETWEEN 1 AND 100),
	CONSTRAINT postbag__once__id CHECK (LENGTH(id) BETWEEN 1 AND 255),
	CONSTRAINT postbag__once__sum CHECK (`sum` IS NULL OR LENGTH(`sum`) = 32),
	CONSTRAINT postbag__once__at CHECK (at > 0)
) ENGINE = InnoDB;

-- For how long the marks of a consumer are kept. Those of others are kept for 30 days.
CREATE TABLE IF NOT EXISTS postbag__consumer (
	name VARBINARY(120) NOT NULL PRIMARY KEY,
	keep BIGINT         NOT NULL, -- microseconds
	CONSTRAINT postbag__consumer__name CHECK (LENGTH(name) BETWEEN 1 AND 100),
	CONSTRAINT postbag__consumer__keep CHECK (keep >= 60000000)
) ENGINE = InnoDB;

-- One row: how far the removal of old marks has come, and who is at it.
CREATE TABLE IF NOT EXISTS postbag__forgetting (
	one      TINYINT        NOT NULL PRIMARY KEY,
	consumer VARBINARY(120) NOT NULL,
	id       VARBINARY(300) NOT NULL,
	token    BIGINT         NOT NULL, -- grows with each call
	expires  BIGINT         NOT NULL, -- until then others keep out; zero: nobody is at it
	CONSTRAINT postbag__forgetting__one CHECK (one = 1)
) ENGINE = InnoDB;

INSERT IGNORE INTO postbag__forgetting (one, consumer, id, token, expires) VALUES (1, x'', x'', 0, 0);
