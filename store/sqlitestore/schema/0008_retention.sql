-- How long messages of a box stay, in microseconds: 0 for nothing said, -1 for ever. What operators have set comes first,
-- then what relays have deployed, with when and who said so last. A box that says nothing goes by the default.
ALTER TABLE postbag__box ADD COLUMN keep_delivered     INTEGER NOT NULL DEFAULT 0;
ALTER TABLE postbag__box ADD COLUMN keep_discarded     INTEGER NOT NULL DEFAULT 0;
ALTER TABLE postbag__box ADD COLUMN keep_dead          INTEGER NOT NULL DEFAULT 0;
ALTER TABLE postbag__box ADD COLUMN deployed_delivered INTEGER NOT NULL DEFAULT 0;
ALTER TABLE postbag__box ADD COLUMN deployed_discarded INTEGER NOT NULL DEFAULT 0;
ALTER TABLE postbag__box ADD COLUMN deployed_dead      INTEGER NOT NULL DEFAULT 0;
ALTER TABLE postbag__box ADD COLUMN deployed_at        INTEGER NOT NULL DEFAULT 0;
ALTER TABLE postbag__box ADD COLUMN deployed_by        TEXT    NOT NULL DEFAULT '';
