-- What operators need: what failed of a message stays after its end, and a message that was delivered can be erased.

-- What is known of messages that were parked and had an error, once they are resolved, for listings, while the log has them.
CREATE TABLE postbag._past (
  sub      integer NOT NULL,
  seq      bigint  NOT NULL,
  attempts integer NOT NULL,
  reason   text    NOT NULL,
  history  jsonb   NOT NULL,
  PRIMARY KEY (sub, seq)
) WITH (vacuum_truncate = false);
-- Pages without rows, as in 0001_postbag.sql.
DO $filler$ BEGIN
  INSERT INTO postbag._past (sub, seq, attempts, reason, history)
  SELECT 0, g, 0, repeat('x', 1800), '[]' FROM generate_series(1, 4 * {pages}) g;
  RAISE EXCEPTION USING ERRCODE = 'PB000';
EXCEPTION WHEN SQLSTATE 'PB000' THEN NULL;
END $filler$;

-- How a relay's destinations are, as of its last heartbeat: JSON, empty for none.
ALTER TABLE postbag._relays ADD COLUMN conditions text NOT NULL DEFAULT '';

-- Commands about messages that were pending when they were given. They stay until the position has passed the message.
ALTER TABLE postbag._commands ADD COLUMN pending boolean NOT NULL DEFAULT false;
CREATE INDEX _commands_pending ON postbag._commands (sub, id) WHERE pending;

-- An erasure changes rows of the log, which no other transaction than their own could. A box whose constraint was dropped, as
-- on the target of a logical replication, stays without.
DO $sound$
DECLARE b text;
BEGIN
  FOR b IN SELECT x.name FROM postbag._boxes x JOIN pg_constraint c ON c.conname = x.name || '__sound'
    WHERE c.conrelid = to_regclass('postbag.' || x.name) LOOP
    EXECUTE format('ALTER TABLE postbag.%I DROP CONSTRAINT %I', b, b || '__sound');
    EXECUTE format('ALTER TABLE postbag.%I ADD CONSTRAINT %I CHECK ((xid = pg_current_xact_id() AND seq = currval(%L) '
      'OR coalesce(current_setting(''postbag.erasing'', true), '''') = ''on'') '
      'AND id <> ''00000000-0000-0000-0000-000000000000'' AND octet_length(payload) <= 16777216 AND (place IS NULL OR place BETWEEN 0 AND 4096)) NOT VALID',
      b, b || '__sound', 'postbag.' || b || '__seq');
  END LOOP;
END $sound$;
