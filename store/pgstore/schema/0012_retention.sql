-- How long messages of a box stay, in microseconds: 0 for nothing said, -1 for ever. What operators have set comes first,
-- then what relays have deployed, with when (microseconds since 1970) and who said so last. A box that says nothing goes by
-- the default. retained counts the changes, so that a change that was decided by an older state is not written.
ALTER TABLE postbag._boxes
  ADD COLUMN keep_delivered     bigint NOT NULL DEFAULT 0,
  ADD COLUMN keep_discarded     bigint NOT NULL DEFAULT 0,
  ADD COLUMN keep_dead          bigint NOT NULL DEFAULT 0,
  ADD COLUMN deployed_delivered bigint NOT NULL DEFAULT 0,
  ADD COLUMN deployed_discarded bigint NOT NULL DEFAULT 0,
  ADD COLUMN deployed_dead      bigint NOT NULL DEFAULT 0,
  ADD COLUMN deployed_at        bigint NOT NULL DEFAULT 0,
  ADD COLUMN deployed_by        text   NOT NULL DEFAULT '',
  ADD COLUMN retained           bigint NOT NULL DEFAULT 0;
