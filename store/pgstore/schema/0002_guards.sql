-- What keeps hostile roles, and mistakes of owners, from losing or stopping anything.

-- It answers everybody with the rights of its owner, so that every name in it is one that nobody else can stand for: a
-- temporary view named like a catalogue would be found before it otherwise.
CREATE OR REPLACE FUNCTION postbag._identity() RETURNS text LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  tables pg_catalog.text := ' tables ' || 'postbag._meta'::pg_catalog.regclass::pg_catalog.oid || ' ' || 'postbag._epoch'::pg_catalog.regclass::pg_catalog.oid;
BEGIN
  RETURN (SELECT 'system ' || c.system_identifier || tables FROM pg_catalog.pg_control_system() c);
EXCEPTION WHEN insufficient_privilege OR undefined_function THEN
  RETURN (SELECT 'database ' || d.oid || tables FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database());
END $$;

-- Zero is what a life reads as that is not there.
DELETE FROM postbag._life WHERE life <= 0;
ALTER TABLE postbag._life ADD CONSTRAINT _life_is_one CHECK (life > 0);

-- numbering is the file of the sequence that the box's positions speak of. It changes when the sequence is restarted, as by
-- TRUNCATE ... RESTART IDENTITY, and when it is altered: seqs that were given out may come again then.
ALTER TABLE postbag._boxes ADD COLUMN numbering bigint;
UPDATE postbag._boxes b SET numbering = pg_relation_filenode(to_regclass('postbag.' || b.name || '__seq'))::bigint;

-- Headers are not more than a reader can take: no reader goes down ten thousand levels. What is there already stays as it is,
-- and is told when it is read.
ALTER DOMAIN postbag.headers ADD CONSTRAINT headers_are_flat CHECK (length(VALUE::text) - length(translate(VALUE::text, '{[', '')) <= 1000) NOT VALID;
ALTER DOMAIN postbag.headers ADD CONSTRAINT headers_are_small CHECK (octet_length(VALUE::text) <= 65536) NOT VALID;

-- Times of ours can be subtracted from each other.
ALTER TABLE postbag._parked ADD CONSTRAINT _parked_times CHECK (isfinite(ready) AND isfinite(due) AND isfinite(first)) NOT VALID;
ALTER TABLE postbag._relays ADD CONSTRAINT _relays_times CHECK (isfinite(expires)) NOT VALID;

-- Boxes that are there get what new ones are made with: see box.sql.
DO $boxes$
DECLARE
  b record;
  p record;
BEGIN
  FOR b IN SELECT name FROM postbag._boxes LOOP
    EXECUTE format('ALTER TABLE postbag.%I DROP CONSTRAINT IF EXISTS %I', b.name, b.name || '__sound');
    FOR p IN SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = to_regclass('postbag.' || b.name) LOOP
      EXECUTE format('ALTER TABLE postbag.%I DROP CONSTRAINT IF EXISTS %I', p.relname, b.name || '__sound');
    END LOOP;
    EXECUTE format('ALTER TABLE postbag.%I ADD CONSTRAINT %I CHECK (xid = pg_current_xact_id() AND seq = currval(%L) '
      'AND id <> ''00000000-0000-0000-0000-000000000000'' AND octet_length(payload) <= 16777216 AND (place IS NULL OR place BETWEEN 0 AND 4096)) NOT VALID',
      b.name, b.name || '__sound', 'postbag.' || b.name || '__seq');
    EXECUTE format('ALTER TABLE postbag.%I ADD CONSTRAINT %I CHECK (isfinite(due) AND octet_length(payload) <= 16777216) NOT VALID',
      b.name || '__scheduled', b.name || '__scheduled__sound');
    EXECUTE format('CREATE FUNCTION postbag.%I(message uuid) RETURNS boolean LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET row_security = off AS %L',
      b.name || '__cancel', format('WITH d AS (DELETE FROM postbag.%I s WHERE s.id = message AND (s.due > statement_timestamp()) IS TRUE RETURNING 1) '
        'SELECT EXISTS (SELECT FROM d)', b.name || '__scheduled'));
    EXECUTE format('REVOKE EXECUTE ON FUNCTION postbag.%I(uuid) FROM PUBLIC', b.name || '__cancel');
  END LOOP;
END $boxes$;
