-- Ids are drawn with the rights of whoever inserts, in a search_path of their own: every name is one that nobody else's function or
-- operator can stand for. (A SET of the search_path would do it too, for two microseconds a message.)
CREATE OR REPLACE FUNCTION postbag.new_id() RETURNS uuid LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$
DECLARE
  random pg_catalog.bytea := pg_catalog.uuid_send(pg_catalog.gen_random_uuid());
  ms bigint := pg_catalog.floor(extract(epoch FROM pg_catalog.clock_timestamp()) OPERATOR(pg_catalog.*) 1000::numeric);
BEGIN
  RETURN pg_catalog.encode(pg_catalog.int8send((ms OPERATOR(pg_catalog.<<) 16) OPERATOR(pg_catalog.|) 28672::bigint OPERATOR(pg_catalog.|)
      (((pg_catalog.get_byte(random, 6) OPERATOR(pg_catalog.&) 15) OPERATOR(pg_catalog.<<) 8) OPERATOR(pg_catalog.|) pg_catalog.get_byte(random, 7))::bigint)
    OPERATOR(pg_catalog.||) pg_catalog.substr(random, 9), 'hex')::pg_catalog.uuid;
END $$;
