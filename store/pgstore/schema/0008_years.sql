-- A scheduled message is due before the year 10000, as on every store: later times can be stored, and many programs cannot read
-- them. A box whose constraint was dropped, as on the target of a logical replication, stays without.
DO $years$
DECLARE b text;
BEGIN
  FOR b IN SELECT x.name FROM postbag._boxes x JOIN pg_constraint c ON c.conname = x.name || '__scheduled__sound'
    WHERE c.conrelid = to_regclass('postbag.' || x.name || '__scheduled') LOOP
    EXECUTE format('ALTER TABLE postbag.%I DROP CONSTRAINT %I', b || '__scheduled', b || '__scheduled__sound');
    EXECUTE format('ALTER TABLE postbag.%I ADD CONSTRAINT %I CHECK (isfinite(due) AND due < ''10000-01-01 00:00:00Z'' AND octet_length(payload) <= 16777216 '
      'AND topic <> '''') NOT VALID', b || '__scheduled', b || '__scheduled__sound');
  END LOOP;
END $years$;
