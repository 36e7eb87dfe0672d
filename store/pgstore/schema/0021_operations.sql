-- Long operations: commands for many messages, that survive the process which began them.

-- One row each. Times are microseconds since 1970, and 0 is none. revision grows with every change: who changes a row names the one
-- that it has read, so that no change is made of what another has changed.
CREATE TABLE IF NOT EXISTS postbag._operations (
  id         bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  revision   bigint  NOT NULL DEFAULT 1,
  version    integer NOT NULL,
  kind       text    NOT NULL,
  box        text    COLLATE "C" NOT NULL,
  name       text    NOT NULL, -- of the subscription; empty: of scheduled messages
  sub        integer NOT NULL, -- its id
  messages   text    NOT NULL, -- the state that they have
  chosen     text    NOT NULL, -- JSON
  as_of      bigint  NOT NULL, -- before they were looked up
  rate       bigint  NOT NULL,
  who        text    NOT NULL,
  why        text    NOT NULL,
  matched    bigint  NOT NULL,
  made       bigint  NOT NULL,
  at         bigint  NOT NULL DEFAULT 0, -- how many are behind it
  given      bigint  NOT NULL DEFAULT 0,
  changed    bigint  NOT NULL DEFAULT 0,
  passed     bigint  NOT NULL DEFAULT 0,
  state      text    COLLATE "C" NOT NULL,
  error      text    NOT NULL DEFAULT '',
  by_who     text    NOT NULL DEFAULT '', -- who paused, resumed or cancelled it last
  by_why     text    NOT NULL DEFAULT '',
  worker     text    NOT NULL DEFAULT '',
  token      bigint  NOT NULL DEFAULT 0,
  lease_ends bigint  NOT NULL DEFAULT 0,
  begun      bigint  NOT NULL DEFAULT 0,
  touched    bigint  NOT NULL, -- the last change
  ended      bigint  NOT NULL DEFAULT 0
) WITH (vacuum_truncate = false);
-- What housekeeping removes, the oldest first.
CREATE INDEX IF NOT EXISTS _operations_touched ON postbag._operations (box, touched);

-- The messages of operations, up to 500 in a row.
CREATE TABLE IF NOT EXISTS postbag._operation_parts (
  operation bigint NOT NULL,
  part      bigint NOT NULL,
  messages  bytea  NOT NULL,
  PRIMARY KEY (operation, part)
) WITH (vacuum_truncate = false);
