-- Subscriptions that operators change while relays run.

-- Who set the filter with a command, and who asked for the number of shards. Empty: they are as declared.
ALTER TABLE postbag._subscriptions ADD COLUMN IF NOT EXISTS types_by text NOT NULL DEFAULT '';
ALTER TABLE postbag._subscriptions ADD COLUMN IF NOT EXISTS wanted_by text NOT NULL DEFAULT '';

-- Subscriptions that an operator removed. A relay that still names one does not declare it again.
CREATE TABLE IF NOT EXISTS postbag._removed (
  box  integer     NOT NULL,
  name text        COLLATE "C" NOT NULL,
  at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  who  text        NOT NULL,
  PRIMARY KEY (box, name)
);
