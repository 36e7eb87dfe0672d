-- Lanes of exactly-once effects (package inbox): the transaction that applies a page of
-- messages writes the record of them. Names are bytes.
CREATE TABLE postbag__lane (
	lane   BLOB    PRIMARY KEY NOT NULL CHECK (typeof(lane) = 'blob' AND length(lane) BETWEEN 1 AND 500),
	epoch  INTEGER NOT NULL CHECK (typeof(epoch) = 'integer' AND epoch > 0), -- another one after each opening
	record BLOB    CHECK (record IS NULL OR typeof(record) = 'blob' AND length(record) <= 524288) -- null: none was written
) WITHOUT ROWID;
