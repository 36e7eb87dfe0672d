-- An empty topic is refused, as on every store. It was taken for the box's name, and in rows that are there it still is. A box
-- whose constraint was dropped, as on the target of a logical replication, stays without.
DO $topics$
DECLARE b text;
BEGIN
  FOR b IN SELECT x.name FROM postbag._boxes x JOIN pg_constraint c ON c.conname = x.name || '__sound'
    WHERE c.conrelid = to_regclass('postbag.' || x.name) LOOP
    EXECUTE format('ALTER TABLE postbag.%I DROP CONSTRAINT %I', b, b || '__sound');
    EXECUTE format('ALTER TABLE postbag.%I ADD CONSTRAINT %I CHECK ((xid = pg_current_xact_id() AND seq = currval(%L) AND topic <> '''' '
      'OR coalesce(current_setting(''postbag.erasing'', true), '''') = ''on'') '
      'AND id <> ''00000000-0000-0000-0000-000000000000'' AND octet_length(payload) <= 16777216 AND (place IS NULL OR place BETWEEN 0 AND 4096)) NOT VALID',
      b, b || '__sound', 'postbag.' || b || '__seq');
  END LOOP;
  FOR b IN SELECT x.name FROM postbag._boxes x JOIN pg_constraint c ON c.conname = x.name || '__scheduled__sound'
    WHERE c.conrelid = to_regclass('postbag.' || x.name || '__scheduled') LOOP
    EXECUTE format('ALTER TABLE postbag.%I DROP CONSTRAINT %I', b || '__scheduled', b || '__scheduled__sound');
    EXECUTE format('ALTER TABLE postbag.%I ADD CONSTRAINT %I CHECK (isfinite(due) AND octet_length(payload) <= 16777216 AND topic <> '''') NOT VALID',
      b || '__scheduled', b || '__scheduled__sound');
  END LOOP;
END $topics$;
