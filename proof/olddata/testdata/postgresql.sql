--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: postbag; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA postbag;


--
-- Name: headers; Type: DOMAIN; Schema: postbag; Owner: -
--

CREATE DOMAIN postbag.headers AS json
	CONSTRAINT headers_check CHECK ((json_typeof(VALUE) = 'object'::text));


--
-- Name: _identity(); Type: FUNCTION; Schema: postbag; Owner: -
--

CREATE FUNCTION postbag._identity() RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  tables pg_catalog.text := ' tables ' || 'postbag._meta'::pg_catalog.regclass::pg_catalog.oid || ' ' || 'postbag._epoch'::pg_catalog.regclass::pg_catalog.oid;
BEGIN
  RETURN (SELECT 'system ' || c.system_identifier || tables FROM pg_catalog.pg_control_system() c);
EXCEPTION WHEN insufficient_privilege OR undefined_function THEN
  RETURN (SELECT 'database ' || d.oid || tables FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database());
END $$;


--
-- Name: _token; Type: SEQUENCE; Schema: postbag; Owner: -
--

CREATE SEQUENCE postbag._token
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: _new_token(); Type: FUNCTION; Schema: postbag; Owner: -
--

CREATE FUNCTION postbag._new_token() RETURNS bigint
    LANGUAGE sql
    RETURN ((nextval('postbag._token'::regclass) * 65536) + (floor((random() * (65536)::double precision)))::bigint);


--
-- Name: _refuse(); Type: FUNCTION; Schema: postbag; Owner: -
--

CREATE FUNCTION postbag._refuse() RETURNS bigint
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION 'postbag: this server session is not the one that was checked' USING ERRCODE = 'PB001';
END $$;


--
-- Name: new_id(); Type: FUNCTION; Schema: postbag; Owner: -
--

CREATE FUNCTION postbag.new_id() RETURNS uuid
    LANGUAGE plpgsql PARALLEL SAFE
    AS $$
DECLARE
  random pg_catalog.bytea := pg_catalog.uuid_send(pg_catalog.gen_random_uuid());
  ms bigint := pg_catalog.floor(extract(epoch FROM pg_catalog.clock_timestamp()) OPERATOR(pg_catalog.*) 1000::numeric);
BEGIN
  RETURN pg_catalog.encode(pg_catalog.int8send((ms OPERATOR(pg_catalog.<<) 16) OPERATOR(pg_catalog.|) 28672::bigint OPERATOR(pg_catalog.|)
      (((pg_catalog.get_byte(random, 6) OPERATOR(pg_catalog.&) 15) OPERATOR(pg_catalog.<<) 8) OPERATOR(pg_catalog.|) pg_catalog.get_byte(random, 7))::bigint)
    OPERATOR(pg_catalog.||) pg_catalog.substr(random, 9), 'hex')::pg_catalog.uuid;
END $$;


--
-- Name: outbox__cancel(uuid); Type: FUNCTION; Schema: postbag; Owner: -
--

CREATE FUNCTION postbag.outbox__cancel(message uuid) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET row_security TO 'off'
    AS $$
  WITH d AS (
    DELETE FROM postbag.outbox__scheduled s WHERE s.id = message AND (s.due > statement_timestamp()) IS TRUE RETURNING 1
  )
  SELECT EXISTS (SELECT FROM d)
$$;


--
-- Name: slot_of(text, uuid); Type: FUNCTION; Schema: postbag; Owner: -
--

CREATE FUNCTION postbag.slot_of(k text, i uuid) RETURNS smallint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (((('x'::text || "left"(encode(sha256(CASE WHEN (k <> ''::text) THEN decode(replace(k, chr(92), (chr(92) || chr(92))), 'escape'::text) ELSE uuid_send(i) END), 'hex'::text), 3)))::bit(12))::integer)::smallint;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: _audit; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag._audit (
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    who text NOT NULL,
    why text NOT NULL,
    what text NOT NULL
)
WITH (vacuum_truncate='false');


--
-- Name: _audit_id_seq; Type: SEQUENCE; Schema: postbag; Owner: -
--

ALTER TABLE postbag._audit ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME postbag._audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: _boxes; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag._boxes (
    id integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    spans integer NOT NULL,
    "foreign" bigint DEFAULT 0 NOT NULL,
    dropped bigint DEFAULT 0 NOT NULL,
    swept_x xid8,
    made timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    numbering bigint,
    keep_delivered bigint DEFAULT 0 NOT NULL,
    keep_discarded bigint DEFAULT 0 NOT NULL,
    keep_dead bigint DEFAULT 0 NOT NULL,
    deployed_delivered bigint DEFAULT 0 NOT NULL,
    deployed_discarded bigint DEFAULT 0 NOT NULL,
    deployed_dead bigint DEFAULT 0 NOT NULL,
    deployed_at bigint DEFAULT 0 NOT NULL,
    deployed_by text DEFAULT ''::text NOT NULL,
    retained bigint DEFAULT 0 NOT NULL
);


--
-- Name: _boxes_id_seq; Type: SEQUENCE; Schema: postbag; Owner: -
--

ALTER TABLE postbag._boxes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME postbag._boxes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: _commands; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag._commands (
    id bigint NOT NULL,
    sub integer NOT NULL,
    slot smallint NOT NULL,
    seq bigint NOT NULL,
    kind smallint NOT NULL,
    made timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    pending boolean DEFAULT false NOT NULL
)
WITH (vacuum_truncate='false');


--
-- Name: _commands_id_seq; Type: SEQUENCE; Schema: postbag; Owner: -
--

ALTER TABLE postbag._commands ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME postbag._commands_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: _consumers; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag._consumers (
    name text NOT NULL COLLATE pg_catalog."C",
    keep interval NOT NULL,
    CONSTRAINT _consumers_keep_check CHECK (((keep >= '00:01:00'::interval) AND (keep <= '300 years'::interval))),
    CONSTRAINT _consumers_name_check CHECK (((octet_length(name) >= 1) AND (octet_length(name) <= 100)))
);


--
-- Name: _copies; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag._copies (
    box integer NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    id uuid NOT NULL,
    place smallint,
    topic text NOT NULL COLLATE pg_catalog."C",
    key text COLLATE pg_catalog."C",
    shard_key text COLLATE pg_catalog."C",
    type text COLLATE pg_catalog."C",
    headers json,
    payload bytea NOT NULL
)
WITH (vacuum_truncate='false');


--
-- Name: _cuts; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag._cuts (
    id bigint NOT NULL,
    sub integer NOT NULL,
    "position" bytea NOT NULL,
    floor bigint NOT NULL,
    made timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);


--
-- Name: _cuts_id_seq; Type: SEQUENCE; Schema: postbag; Owner: -
--

ALTER TABLE postbag._cuts ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME postbag._cuts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: _discarded; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag._discarded (
    sub integer NOT NULL,
    seq bigint NOT NULL
)
WITH (vacuum_truncate='false');


--
-- Name: _drops; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag._drops (
    box integer NOT NULL,
    lo bigint NOT NULL,
    hi bigint NOT NULL,
    part text NOT NULL COLLATE pg_catalog."C",
    made timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);


--
-- Name: _epoch; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag._epoch (
    one boolean DEFAULT true NOT NULL,
    n bigint NOT NULL,
    CONSTRAINT _epoch_one_check CHECK (one)
)
WITH (fillfactor='10');


--
-- Name: _floors; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag._floors (
    box integer NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
)
WITH (vacuum_truncate='false');


--
-- Name: _forgetting; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag._forgetting (
    one boolean DEFAULT true NOT NULL,
    block bigint DEFAULT 0 NOT NULL,
    blocks bigint DEFAULT 0 NOT NULL,
    holder text DEFAULT ''::text NOT NULL,
    until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    done timestamp with time zone,
    CONSTRAINT _forgetting_one_check CHECK (one)
)
WITH (fillfactor='20');


--
-- Name: _lanes; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag._lanes (
    lane bytea NOT NULL,
    epoch bigint NOT NULL,
    record bytea,
    CONSTRAINT _lanes_epoch_check CHECK ((epoch > 0)),
    CONSTRAINT _lanes_lane_check CHECK (((octet_length(lane) >= 1) AND (octet_length(lane) <= 500))),
    CONSTRAINT _lanes_record_check CHECK ((octet_length(record) <= 524288))
)
WITH (fillfactor='20');


--
-- Name: _ledger; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag._ledger (
    sub integer NOT NULL,
    span bigint NOT NULL,
    fate smallint NOT NULL,
    shard integer NOT NULL,
    n bigint NOT NULL,
    seqs numeric NOT NULL,
    ids numeric NOT NULL
)
WITH (fillfactor='70', vacuum_truncate='false');


--
-- Name: _life; Type: TABLE; Schema: postbag; Owner: -
--

CREATE UNLOGGED TABLE postbag._life (
    one boolean DEFAULT true NOT NULL,
    life bigint NOT NULL,
    CONSTRAINT _life_is_one CHECK ((life > 0)),
    CONSTRAINT _life_one_check CHECK (one)
);


--
-- Name: _meta; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag._meta (
    one boolean DEFAULT true NOT NULL,
    identity text NOT NULL,
    reader smallint DEFAULT 1 NOT NULL,
    CONSTRAINT _meta_one_check CHECK (one)
);


--
-- Name: _migrations; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag._migrations (
    version integer NOT NULL,
    name text NOT NULL,
    made timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);


--
-- Name: _once; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag._once (
    consumer text NOT NULL COLLATE pg_catalog."C",
    id bytea NOT NULL,
    sum bytea,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
)
WITH (vacuum_truncate='false');


--
-- Name: _parked; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag._parked (
    sub integer NOT NULL,
    seq bigint NOT NULL,
    shard integer NOT NULL,
    slot smallint NOT NULL,
    hash bigint NOT NULL,
    state smallint NOT NULL,
    blocking boolean NOT NULL,
    attempts integer NOT NULL,
    ready timestamp with time zone,
    due timestamp with time zone,
    first timestamp with time zone NOT NULL,
    id uuid NOT NULL,
    reason text NOT NULL,
    history jsonb NOT NULL,
    held text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C"
)
WITH (fillfactor='70', vacuum_truncate='false');


--
-- Name: _past; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag._past (
    sub integer NOT NULL,
    seq bigint NOT NULL,
    attempts integer NOT NULL,
    reason text NOT NULL,
    history jsonb NOT NULL
)
WITH (vacuum_truncate='false');


--
-- Name: _pauses; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag._pauses (
    id bigint NOT NULL,
    sub integer NOT NULL,
    scope text NOT NULL COLLATE pg_catalog."C",
    held text NOT NULL COLLATE pg_catalog."C",
    who text NOT NULL,
    why text NOT NULL,
    began timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ends timestamp with time zone,
    CONSTRAINT _pauses_ends_check CHECK (isfinite(ends))
)
WITH (vacuum_truncate='false');


--
-- Name: _pauses_id_seq; Type: SEQUENCE; Schema: postbag; Owner: -
--

ALTER TABLE postbag._pauses ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME postbag._pauses_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: _relays; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag._relays (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    expires timestamp with time zone NOT NULL,
    dead boolean DEFAULT false NOT NULL,
    boxes text[] NOT NULL,
    subs text[] NOT NULL,
    format smallint NOT NULL,
    beat_x xid8,
    changed_x xid8,
    conditions text DEFAULT ''::text NOT NULL
)
WITH (fillfactor='20', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000');


--
-- Name: _removed; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag._removed (
    box integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    who text NOT NULL
);


--
-- Name: _shards; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag._shards (
    id integer NOT NULL,
    sub integer NOT NULL,
    lo smallint NOT NULL,
    hi smallint NOT NULL,
    "position" bytea DEFAULT '\x'::bytea NOT NULL,
    token bigint DEFAULT 0 NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    settled bigint DEFAULT 0 NOT NULL,
    settled_x xid8,
    taken_x xid8,
    changed_x xid8,
    owner text COLLATE pg_catalog."C",
    span bigint DEFAULT '-1'::integer NOT NULL,
    delivered bigint DEFAULT 0 NOT NULL,
    delivered_seq numeric DEFAULT 0 NOT NULL,
    delivered_id numeric DEFAULT 0 NOT NULL,
    filtered bigint DEFAULT 0 NOT NULL,
    filtered_seq numeric DEFAULT 0 NOT NULL,
    filtered_id numeric DEFAULT 0 NOT NULL
)
WITH (fillfactor='20', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000');


--
-- Name: _shards_id_seq; Type: SEQUENCE; Schema: postbag; Owner: -
--

ALTER TABLE postbag._shards ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME postbag._shards_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: _subscriptions; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag._subscriptions (
    id integer NOT NULL,
    box integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    types text[] DEFAULT '{}'::text[] NOT NULL,
    wanted integer NOT NULL,
    paused boolean DEFAULT false NOT NULL,
    made timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    replay text,
    types_by text DEFAULT ''::text NOT NULL,
    wanted_by text DEFAULT ''::text NOT NULL
);


--
-- Name: _subscriptions_id_seq; Type: SEQUENCE; Schema: postbag; Owner: -
--

ALTER TABLE postbag._subscriptions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME postbag._subscriptions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: outbox; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag.outbox (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    id uuid DEFAULT postbag.new_id() NOT NULL,
    place smallint,
    topic character varying(255) DEFAULT 'outbox'::character varying NOT NULL COLLATE pg_catalog."C",
    key character varying(1024) COLLATE pg_catalog."C",
    shard_key character varying(1024) COLLATE pg_catalog."C",
    type character varying(255) COLLATE pg_catalog."C",
    headers postbag.headers,
    payload bytea DEFAULT '\x'::bytea NOT NULL
)
PARTITION BY RANGE (seq);


--
-- Name: outbox__seq; Type: SEQUENCE; Schema: postbag; Owner: -
--

CREATE SEQUENCE postbag.outbox__seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: outbox__seq; Type: SEQUENCE OWNED BY; Schema: postbag; Owner: -
--

ALTER SEQUENCE postbag.outbox__seq OWNED BY postbag.outbox.seq;


--
-- Name: outbox__p0; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag.outbox__p0 (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    seq bigint DEFAULT 
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN nextval('postbag.outbox__seq'::regclass)
    ELSE NULL::bigint
END NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    id uuid DEFAULT postbag.new_id() NOT NULL,
    place smallint,
    topic character varying(255) DEFAULT 'outbox'::character varying NOT NULL COLLATE pg_catalog."C",
    key character varying(1024) COLLATE pg_catalog."C",
    shard_key character varying(1024) COLLATE pg_catalog."C",
    type character varying(255) COLLATE pg_catalog."C",
    headers postbag.headers,
    payload bytea DEFAULT '\x'::bytea NOT NULL
)
WITH (vacuum_truncate='false');


--
-- Name: outbox__p128; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag.outbox__p128 (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    seq bigint DEFAULT 
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN nextval('postbag.outbox__seq'::regclass)
    ELSE NULL::bigint
END NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    id uuid DEFAULT postbag.new_id() NOT NULL,
    place smallint,
    topic character varying(255) DEFAULT 'outbox'::character varying NOT NULL COLLATE pg_catalog."C",
    key character varying(1024) COLLATE pg_catalog."C",
    shard_key character varying(1024) COLLATE pg_catalog."C",
    type character varying(255) COLLATE pg_catalog."C",
    headers postbag.headers,
    payload bytea DEFAULT '\x'::bytea NOT NULL
)
WITH (vacuum_truncate='false');


--
-- Name: outbox__p160; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag.outbox__p160 (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    seq bigint DEFAULT 
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN nextval('postbag.outbox__seq'::regclass)
    ELSE NULL::bigint
END NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    id uuid DEFAULT postbag.new_id() NOT NULL,
    place smallint,
    topic character varying(255) DEFAULT 'outbox'::character varying NOT NULL COLLATE pg_catalog."C",
    key character varying(1024) COLLATE pg_catalog."C",
    shard_key character varying(1024) COLLATE pg_catalog."C",
    type character varying(255) COLLATE pg_catalog."C",
    headers postbag.headers,
    payload bytea DEFAULT '\x'::bytea NOT NULL
)
WITH (vacuum_truncate='false');


--
-- Name: outbox__p192; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag.outbox__p192 (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    seq bigint DEFAULT 
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN nextval('postbag.outbox__seq'::regclass)
    ELSE NULL::bigint
END NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    id uuid DEFAULT postbag.new_id() NOT NULL,
    place smallint,
    topic character varying(255) DEFAULT 'outbox'::character varying NOT NULL COLLATE pg_catalog."C",
    key character varying(1024) COLLATE pg_catalog."C",
    shard_key character varying(1024) COLLATE pg_catalog."C",
    type character varying(255) COLLATE pg_catalog."C",
    headers postbag.headers,
    payload bytea DEFAULT '\x'::bytea NOT NULL
)
WITH (vacuum_truncate='false');


--
-- Name: outbox__p224; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag.outbox__p224 (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    seq bigint DEFAULT 
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN nextval('postbag.outbox__seq'::regclass)
    ELSE NULL::bigint
END NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    id uuid DEFAULT postbag.new_id() NOT NULL,
    place smallint,
    topic character varying(255) DEFAULT 'outbox'::character varying NOT NULL COLLATE pg_catalog."C",
    key character varying(1024) COLLATE pg_catalog."C",
    shard_key character varying(1024) COLLATE pg_catalog."C",
    type character varying(255) COLLATE pg_catalog."C",
    headers postbag.headers,
    payload bytea DEFAULT '\x'::bytea NOT NULL
)
WITH (vacuum_truncate='false');


--
-- Name: outbox__p256; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag.outbox__p256 (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    seq bigint DEFAULT 
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN nextval('postbag.outbox__seq'::regclass)
    ELSE NULL::bigint
END NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    id uuid DEFAULT postbag.new_id() NOT NULL,
    place smallint,
    topic character varying(255) DEFAULT 'outbox'::character varying NOT NULL COLLATE pg_catalog."C",
    key character varying(1024) COLLATE pg_catalog."C",
    shard_key character varying(1024) COLLATE pg_catalog."C",
    type character varying(255) COLLATE pg_catalog."C",
    headers postbag.headers,
    payload bytea DEFAULT '\x'::bytea NOT NULL
)
WITH (vacuum_truncate='false');


--
-- Name: outbox__p288; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag.outbox__p288 (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    seq bigint DEFAULT 
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN nextval('postbag.outbox__seq'::regclass)
    ELSE NULL::bigint
END NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    id uuid DEFAULT postbag.new_id() NOT NULL,
    place smallint,
    topic character varying(255) DEFAULT 'outbox'::character varying NOT NULL COLLATE pg_catalog."C",
    key character varying(1024) COLLATE pg_catalog."C",
    shard_key character varying(1024) COLLATE pg_catalog."C",
    type character varying(255) COLLATE pg_catalog."C",
    headers postbag.headers,
    payload bytea DEFAULT '\x'::bytea NOT NULL
)
WITH (vacuum_truncate='false');


--
-- Name: outbox__p32; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag.outbox__p32 (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    seq bigint DEFAULT 
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN nextval('postbag.outbox__seq'::regclass)
    ELSE NULL::bigint
END NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    id uuid DEFAULT postbag.new_id() NOT NULL,
    place smallint,
    topic character varying(255) DEFAULT 'outbox'::character varying NOT NULL COLLATE pg_catalog."C",
    key character varying(1024) COLLATE pg_catalog."C",
    shard_key character varying(1024) COLLATE pg_catalog."C",
    type character varying(255) COLLATE pg_catalog."C",
    headers postbag.headers,
    payload bytea DEFAULT '\x'::bytea NOT NULL
)
WITH (vacuum_truncate='false');


--
-- Name: outbox__p320; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag.outbox__p320 (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    seq bigint DEFAULT 
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN nextval('postbag.outbox__seq'::regclass)
    ELSE NULL::bigint
END NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    id uuid DEFAULT postbag.new_id() NOT NULL,
    place smallint,
    topic character varying(255) DEFAULT 'outbox'::character varying NOT NULL COLLATE pg_catalog."C",
    key character varying(1024) COLLATE pg_catalog."C",
    shard_key character varying(1024) COLLATE pg_catalog."C",
    type character varying(255) COLLATE pg_catalog."C",
    headers postbag.headers,
    payload bytea DEFAULT '\x'::bytea NOT NULL
)
WITH (vacuum_truncate='false');


--
-- Name: outbox__p352; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag.outbox__p352 (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    seq bigint DEFAULT 
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN nextval('postbag.outbox__seq'::regclass)
    ELSE NULL::bigint
END NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    id uuid DEFAULT postbag.new_id() NOT NULL,
    place smallint,
    topic character varying(255) DEFAULT 'outbox'::character varying NOT NULL COLLATE pg_catalog."C",
    key character varying(1024) COLLATE pg_catalog."C",
    shard_key character varying(1024) COLLATE pg_catalog."C",
    type character varying(255) COLLATE pg_catalog."C",
    headers postbag.headers,
    payload bytea DEFAULT '\x'::bytea NOT NULL
)
WITH (vacuum_truncate='false');


--
-- Name: outbox__p384; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag.outbox__p384 (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    seq bigint DEFAULT 
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN nextval('postbag.outbox__seq'::regclass)
    ELSE NULL::bigint
END NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    id uuid DEFAULT postbag.new_id() NOT NULL,
    place smallint,
    topic character varying(255) DEFAULT 'outbox'::character varying NOT NULL COLLATE pg_catalog."C",
    key character varying(1024) COLLATE pg_catalog."C",
    shard_key character varying(1024) COLLATE pg_catalog."C",
    type character varying(255) COLLATE pg_catalog."C",
    headers postbag.headers,
    payload bytea DEFAULT '\x'::bytea NOT NULL
)
WITH (vacuum_truncate='false');


--
-- Name: outbox__p416; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag.outbox__p416 (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    seq bigint DEFAULT 
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN nextval('postbag.outbox__seq'::regclass)
    ELSE NULL::bigint
END NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    id uuid DEFAULT postbag.new_id() NOT NULL,
    place smallint,
    topic character varying(255) DEFAULT 'outbox'::character varying NOT NULL COLLATE pg_catalog."C",
    key character varying(1024) COLLATE pg_catalog."C",
    shard_key character varying(1024) COLLATE pg_catalog."C",
    type character varying(255) COLLATE pg_catalog."C",
    headers postbag.headers,
    payload bytea DEFAULT '\x'::bytea NOT NULL
)
WITH (vacuum_truncate='false');


--
-- Name: outbox__p448; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag.outbox__p448 (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    seq bigint DEFAULT 
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN nextval('postbag.outbox__seq'::regclass)
    ELSE NULL::bigint
END NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    id uuid DEFAULT postbag.new_id() NOT NULL,
    place smallint,
    topic character varying(255) DEFAULT 'outbox'::character varying NOT NULL COLLATE pg_catalog."C",
    key character varying(1024) COLLATE pg_catalog."C",
    shard_key character varying(1024) COLLATE pg_catalog."C",
    type character varying(255) COLLATE pg_catalog."C",
    headers postbag.headers,
    payload bytea DEFAULT '\x'::bytea NOT NULL
)
WITH (vacuum_truncate='false');


--
-- Name: outbox__p64; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag.outbox__p64 (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    seq bigint DEFAULT 
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN nextval('postbag.outbox__seq'::regclass)
    ELSE NULL::bigint
END NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    id uuid DEFAULT postbag.new_id() NOT NULL,
    place smallint,
    topic character varying(255) DEFAULT 'outbox'::character varying NOT NULL COLLATE pg_catalog."C",
    key character varying(1024) COLLATE pg_catalog."C",
    shard_key character varying(1024) COLLATE pg_catalog."C",
    type character varying(255) COLLATE pg_catalog."C",
    headers postbag.headers,
    payload bytea DEFAULT '\x'::bytea NOT NULL
)
WITH (vacuum_truncate='false');


--
-- Name: outbox__p96; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag.outbox__p96 (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    seq bigint DEFAULT 
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN nextval('postbag.outbox__seq'::regclass)
    ELSE NULL::bigint
END NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    id uuid DEFAULT postbag.new_id() NOT NULL,
    place smallint,
    topic character varying(255) DEFAULT 'outbox'::character varying NOT NULL COLLATE pg_catalog."C",
    key character varying(1024) COLLATE pg_catalog."C",
    shard_key character varying(1024) COLLATE pg_catalog."C",
    type character varying(255) COLLATE pg_catalog."C",
    headers postbag.headers,
    payload bytea DEFAULT '\x'::bytea NOT NULL
)
WITH (vacuum_truncate='false');


--
-- Name: outbox__scheduled; Type: TABLE; Schema: postbag; Owner: -
--

CREATE TABLE postbag.outbox__scheduled (
    n bigint NOT NULL,
    due timestamp with time zone NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    id uuid DEFAULT postbag.new_id() NOT NULL,
    place smallint,
    topic character varying(255) DEFAULT 'outbox'::character varying NOT NULL COLLATE pg_catalog."C",
    key character varying(1024) COLLATE pg_catalog."C",
    shard_key character varying(1024) COLLATE pg_catalog."C",
    type character varying(255) COLLATE pg_catalog."C",
    headers postbag.headers,
    payload bytea DEFAULT '\x'::bytea NOT NULL,
    CONSTRAINT outbox__scheduled__sound CHECK ((isfinite(due) AND (due < '10000-01-01 00:00:00+00'::timestamp with time zone) AND (octet_length(payload) <= 16777216) AND ((topic)::text <> ''::text))),
    CONSTRAINT outbox__scheduled_id_check CHECK ((id <> '00000000-0000-0000-0000-000000000000'::uuid)),
    CONSTRAINT outbox__scheduled_place_check CHECK (((place >= 0) AND (place <= 4096)))
)
WITH (vacuum_truncate='false');


--
-- Name: outbox__scheduled_n_seq; Type: SEQUENCE; Schema: postbag; Owner: -
--

ALTER TABLE postbag.outbox__scheduled ALTER COLUMN n ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME postbag.outbox__scheduled_n_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: outbox__p0; Type: TABLE ATTACH; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox ATTACH PARTITION postbag.outbox__p0 FOR VALUES FROM ('1') TO ('33554433');


--
-- Name: outbox__p128; Type: TABLE ATTACH; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox ATTACH PARTITION postbag.outbox__p128 FOR VALUES FROM ('134217729') TO ('167772161');


--
-- Name: outbox__p160; Type: TABLE ATTACH; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox ATTACH PARTITION postbag.outbox__p160 FOR VALUES FROM ('167772161') TO ('201326593');


--
-- Name: outbox__p192; Type: TABLE ATTACH; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox ATTACH PARTITION postbag.outbox__p192 FOR VALUES FROM ('201326593') TO ('234881025');


--
-- Name: outbox__p224; Type: TABLE ATTACH; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox ATTACH PARTITION postbag.outbox__p224 FOR VALUES FROM ('234881025') TO ('268435457');


--
-- Name: outbox__p256; Type: TABLE ATTACH; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox ATTACH PARTITION postbag.outbox__p256 FOR VALUES FROM ('268435457') TO ('301989889');


--
-- Name: outbox__p288; Type: TABLE ATTACH; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox ATTACH PARTITION postbag.outbox__p288 FOR VALUES FROM ('301989889') TO ('335544321');


--
-- Name: outbox__p32; Type: TABLE ATTACH; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox ATTACH PARTITION postbag.outbox__p32 FOR VALUES FROM ('33554433') TO ('67108865');


--
-- Name: outbox__p320; Type: TABLE ATTACH; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox ATTACH PARTITION postbag.outbox__p320 FOR VALUES FROM ('335544321') TO ('369098753');


--
-- Name: outbox__p352; Type: TABLE ATTACH; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox ATTACH PARTITION postbag.outbox__p352 FOR VALUES FROM ('369098753') TO ('402653185');


--
-- Name: outbox__p384; Type: TABLE ATTACH; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox ATTACH PARTITION postbag.outbox__p384 FOR VALUES FROM ('402653185') TO ('436207617');


--
-- Name: outbox__p416; Type: TABLE ATTACH; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox ATTACH PARTITION postbag.outbox__p416 FOR VALUES FROM ('436207617') TO ('469762049');


--
-- Name: outbox__p448; Type: TABLE ATTACH; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox ATTACH PARTITION postbag.outbox__p448 FOR VALUES FROM ('469762049') TO ('503316481');


--
-- Name: outbox__p64; Type: TABLE ATTACH; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox ATTACH PARTITION postbag.outbox__p64 FOR VALUES FROM ('67108865') TO ('100663297');


--
-- Name: outbox__p96; Type: TABLE ATTACH; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox ATTACH PARTITION postbag.outbox__p96 FOR VALUES FROM ('100663297') TO ('134217729');


--
-- Name: outbox seq; Type: DEFAULT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox ALTER COLUMN seq SET DEFAULT 
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN nextval('postbag.outbox__seq'::regclass)
    ELSE NULL::bigint
END;


--
-- Data for Name: _audit; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: _boxes; Type: TABLE DATA; Schema: postbag; Owner: -
--

INSERT INTO postbag._boxes OVERRIDING SYSTEM VALUE VALUES (1, 'outbox', 32, 0, 0, NULL, '2026-11-26 21:44:59.325201+00', 16662, 0, 0, 0, 0, 0, 0, 0, '', 0);


--
-- Data for Name: _commands; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: _consumers; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: _copies; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: _cuts; Type: TABLE DATA; Schema: postbag; Owner: -
--

INSERT INTO postbag._cuts OVERRIDING SYSTEM VALUE VALUES (1, 2, '\x', 0, '2026-11-26 21:44:59.384321+00');


--
-- Data for Name: _discarded; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: _drops; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: _epoch; Type: TABLE DATA; Schema: postbag; Owner: -
--

INSERT INTO postbag._epoch VALUES (true, 3);


--
-- Data for Name: _floors; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: _forgetting; Type: TABLE DATA; Schema: postbag; Owner: -
--

INSERT INTO postbag._forgetting VALUES (true, 0, 0, '', '-infinity', NULL);


--
-- Data for Name: _lanes; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: _ledger; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: _life; Type: TABLE DATA; Schema: postbag; Owner: -
--

INSERT INTO postbag._life VALUES (true, 2280359708500560);


--
-- Data for Name: _meta; Type: TABLE DATA; Schema: postbag; Owner: -
--

INSERT INTO postbag._meta VALUES (true, 'system 7712537069920731584 tables 16393 16410', 2);


--
-- Data for Name: _migrations; Type: TABLE DATA; Schema: postbag; Owner: -
--

INSERT INTO postbag._migrations VALUES (0, 'begin', '2026-11-26 21:44:56.595799+00');
INSERT INTO postbag._migrations VALUES (1, 'postbag', '2026-11-26 21:44:57.527474+00');
INSERT INTO postbag._migrations VALUES (2, 'guards', '2026-11-26 21:44:57.631381+00');
INSERT INTO postbag._migrations VALUES (3, 'operators', '2026-11-26 21:44:57.795926+00');
INSERT INTO postbag._migrations VALUES (4, 'held', '2026-11-26 21:44:57.86307+00');
INSERT INTO postbag._migrations VALUES (5, 'topics', '2026-11-26 21:44:57.869521+00');
INSERT INTO postbag._migrations VALUES (6, 'unled', '2026-11-26 21:44:57.901429+00');
INSERT INTO postbag._migrations VALUES (7, 'reader', '2026-11-26 21:44:57.922482+00');
INSERT INTO postbag._migrations VALUES (8, 'years', '2026-11-26 21:44:57.941767+00');
INSERT INTO postbag._migrations VALUES (9, 'inbox', '2026-11-26 21:44:58.137019+00');
INSERT INTO postbag._migrations VALUES (10, 'lanes', '2026-11-26 21:44:58.157951+00');
INSERT INTO postbag._migrations VALUES (11, 'once', '2026-11-26 21:44:58.161997+00');
INSERT INTO postbag._migrations VALUES (12, 'retention', '2026-11-26 21:44:58.166414+00');
INSERT INTO postbag._migrations VALUES (13, 'replay', '2026-11-26 21:44:58.173436+00');
INSERT INTO postbag._migrations VALUES (14, 'pauses', '2026-11-26 21:44:58.296845+00');
INSERT INTO postbag._migrations VALUES (15, 'living', '2026-11-26 21:44:58.32698+00');
INSERT INTO postbag._migrations VALUES (16, 'supersede', '2026-11-26 21:44:58.332647+00');


--
-- Data for Name: _once; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: _parked; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: _past; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: _pauses; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: _relays; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: _removed; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: _shards; Type: TABLE DATA; Schema: postbag; Owner: -
--

INSERT INTO postbag._shards OVERRIDING SYSTEM VALUE VALUES (1, 1, 0, 4096, '\x', 0, 1, 0, NULL, NULL, NULL, NULL, -1, 0, 0, 0, 0, 0, 0);
INSERT INTO postbag._shards OVERRIDING SYSTEM VALUE VALUES (2, 2, 0, 1024, '\x', 0, 1, 0, NULL, NULL, NULL, NULL, -1, 0, 0, 0, 0, 0, 0);
INSERT INTO postbag._shards OVERRIDING SYSTEM VALUE VALUES (3, 2, 1024, 2048, '\x', 0, 1, 0, NULL, NULL, NULL, NULL, -1, 0, 0, 0, 0, 0, 0);
INSERT INTO postbag._shards OVERRIDING SYSTEM VALUE VALUES (4, 2, 2048, 3072, '\x', 0, 1, 0, NULL, NULL, NULL, NULL, -1, 0, 0, 0, 0, 0, 0);
INSERT INTO postbag._shards OVERRIDING SYSTEM VALUE VALUES (5, 2, 3072, 4096, '\x', 0, 1, 0, NULL, NULL, NULL, NULL, -1, 0, 0, 0, 0, 0, 0);


--
-- Data for Name: _subscriptions; Type: TABLE DATA; Schema: postbag; Owner: -
--

INSERT INTO postbag._subscriptions OVERRIDING SYSTEM VALUE VALUES (1, 1, '@maintenance', '{}', 1, false, '2026-11-26 21:44:59.32537+00', NULL, '', '');
INSERT INTO postbag._subscriptions OVERRIDING SYSTEM VALUE VALUES (2, 1, 'default', '{}', 4, false, '2026-11-26 21:44:59.384183+00', NULL, '', '');


--
-- Data for Name: outbox__p0; Type: TABLE DATA; Schema: postbag; Owner: -
--

INSERT INTO postbag.outbox__p0 VALUES ('768', 5, '2026-11-26 21:44:59.48304+00', '01a219d1-a55a-7485-ad7c-8ec0626a43d1', NULL, 't', 'old-4', NULL, NULL, NULL, '\x30316132313964312d613535612d373438352d616437632d386563303632366134336431');
INSERT INTO postbag.outbox__p0 VALUES ('769', 6, '2026-11-26 21:44:59.508934+00', '01a219d1-a574-77b2-be80-6879fb0858ec', NULL, 't', 'old-0', NULL, NULL, NULL, '\x30316132313964312d613537342d373762322d626538302d363837396662303835386563');
INSERT INTO postbag.outbox__p0 VALUES ('770', 7, '2026-11-26 21:44:59.52317+00', '01a219d1-a582-748a-9273-24b886087888', NULL, 't', 'old-1', NULL, NULL, NULL, '\x30316132313964312d613538322d373438612d393237332d323462383836303837383838');
INSERT INTO postbag.outbox__p0 VALUES ('771', 8, '2026-11-26 21:44:59.537412+00', '01a219d1-a591-70ca-863d-d19630eac769', NULL, 't', 'old-2', NULL, NULL, NULL, '\x30316132313964312d613539312d373063612d383633642d643139363330656163373639');
INSERT INTO postbag.outbox__p0 VALUES ('772', 9, '2026-11-26 21:44:59.543901+00', '01a219d1-a597-70f4-ba38-e4c076d2e680', NULL, 't', 'old-3', NULL, NULL, NULL, '\x30316132313964312d613539372d373066342d626133382d653463303736643265363830');
INSERT INTO postbag.outbox__p0 VALUES ('773', 10, '2026-11-26 21:44:59.557329+00', '01a219d1-a5a5-77c5-b3c7-f8865970de50', NULL, 't', 'old-4', NULL, NULL, NULL, '\x30316132313964312d613561352d373763352d623363372d663838363539373064653530');
INSERT INTO postbag.outbox__p0 VALUES ('774', 11, '2026-11-26 21:44:59.572004+00', '01a219d1-a5b3-7776-a6a9-b47df1fa4eac', NULL, 't', 'old-0', NULL, NULL, NULL, '\x30316132313964312d613562332d373737362d613661392d623437646631666134656163');
INSERT INTO postbag.outbox__p0 VALUES ('775', 12, '2026-11-26 21:44:59.582432+00', '01a219d1-a5be-7047-9608-67824b24eaac', NULL, 't', 'old-1', NULL, NULL, NULL, '\x30316132313964312d613562652d373034372d393630382d363738323462323465616163');
INSERT INTO postbag.outbox__p0 VALUES ('776', 13, '2026-11-26 21:44:59.599101+00', '01a219d1-a5cc-7324-be52-48d3c780abd8', NULL, 't', 'old-2', NULL, NULL, NULL, '\x30316132313964312d613563632d373332342d626535322d343864336337383061626438');
INSERT INTO postbag.outbox__p0 VALUES ('777', 14, '2026-11-26 21:44:59.601465+00', '01a219d1-a5d1-704a-bbe6-ed0476a0b925', NULL, 't', 'old-3', NULL, NULL, NULL, '\x30316132313964312d613564312d373034612d626265362d656430343736613062393235');
INSERT INTO postbag.outbox__p0 VALUES ('778', 15, '2026-11-26 21:44:59.605191+00', '01a219d1-a5d5-754e-8545-50e9d851ee34', NULL, 't', 'old-4', NULL, NULL, NULL, '\x30316132313964312d613564352d373534652d383534352d353065396438353165653334');
INSERT INTO postbag.outbox__p0 VALUES ('779', 16, '2026-11-26 21:44:59.619414+00', '01a219d1-a5e3-772e-a873-2358221a69c0', NULL, 't', 'old-0', NULL, NULL, NULL, '\x30316132313964312d613565332d373732652d613837332d323335383232316136396330');
INSERT INTO postbag.outbox__p0 VALUES ('780', 17, '2026-11-26 21:44:59.627278+00', '01a219d1-a5eb-72bd-8db3-38b9c3ac4f4d', NULL, 't', 'old-1', NULL, NULL, NULL, '\x30316132313964312d613565622d373262642d386462332d333862396333616334663464');
INSERT INTO postbag.outbox__p0 VALUES ('781', 18, '2026-11-26 21:44:59.636531+00', '01a219d1-a5f4-73f1-9e31-e2c07742628c', NULL, 't', 'old-2', NULL, NULL, NULL, '\x30316132313964312d613566342d373366312d396533312d653263303737343236323863');
INSERT INTO postbag.outbox__p0 VALUES ('782', 19, '2026-11-26 21:44:59.663139+00', '01a219d1-a60e-7180-ac65-87b49adc9f60', NULL, 't', 'old-3', NULL, NULL, NULL, '\x30316132313964312d613630652d373138302d616336352d383762343961646339663630');
INSERT INTO postbag.outbox__p0 VALUES ('783', 20, '2026-11-26 21:44:59.680629+00', '01a219d1-a620-74a6-8797-ce770668621e', NULL, 't', 'old-4', NULL, NULL, NULL, '\x30316132313964312d613632302d373461362d383739372d636537373036363836323165');
INSERT INTO postbag.outbox__p0 VALUES ('764', 1, '2026-11-26 21:44:59.433848+00', '01a219d1-a506-7010-a101-e888a54b32b0', NULL, 't', 'old-0', NULL, NULL, NULL, '\x30316132313964312d613530362d373031302d613130312d653838386135346233326230');
INSERT INTO postbag.outbox__p0 VALUES ('765', 2, '2026-11-26 21:44:59.462912+00', '01a219d1-a546-73a4-a3bb-e19996ab3093', NULL, 't', 'old-1', NULL, NULL, NULL, '\x30316132313964312d613534362d373361342d613362622d653139393936616233303933');
INSERT INTO postbag.outbox__p0 VALUES ('766', 3, '2026-11-26 21:44:59.471172+00', '01a219d1-a54e-7100-a5a6-d1bfaa8b3056', NULL, 't', 'old-2', NULL, NULL, NULL, '\x30316132313964312d613534652d373130302d613561362d643162666161386233303536');
INSERT INTO postbag.outbox__p0 VALUES ('767', 4, '2026-11-26 21:44:59.475026+00', '01a219d1-a552-775c-a423-37212802da78', NULL, 't', 'old-3', NULL, NULL, NULL, '\x30316132313964312d613535322d373735632d613432332d333732313238303264613738');


--
-- Data for Name: outbox__p128; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: outbox__p160; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: outbox__p192; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: outbox__p224; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: outbox__p256; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: outbox__p288; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: outbox__p32; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: outbox__p320; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: outbox__p352; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: outbox__p384; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: outbox__p416; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: outbox__p448; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: outbox__p64; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: outbox__p96; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Data for Name: outbox__scheduled; Type: TABLE DATA; Schema: postbag; Owner: -
--



--
-- Name: _audit_id_seq; Type: SEQUENCE SET; Schema: postbag; Owner: -
--

SELECT pg_catalog.setval('postbag._audit_id_seq', 1, false);


--
-- Name: _boxes_id_seq; Type: SEQUENCE SET; Schema: postbag; Owner: -
--

SELECT pg_catalog.setval('postbag._boxes_id_seq', 1, true);


--
-- Name: _commands_id_seq; Type: SEQUENCE SET; Schema: postbag; Owner: -
--

SELECT pg_catalog.setval('postbag._commands_id_seq', 1, false);


--
-- Name: _cuts_id_seq; Type: SEQUENCE SET; Schema: postbag; Owner: -
--

SELECT pg_catalog.setval('postbag._cuts_id_seq', 1, true);


--
-- Name: _pauses_id_seq; Type: SEQUENCE SET; Schema: postbag; Owner: -
--

SELECT pg_catalog.setval('postbag._pauses_id_seq', 1, false);


--
-- Name: _shards_id_seq; Type: SEQUENCE SET; Schema: postbag; Owner: -
--

SELECT pg_catalog.setval('postbag._shards_id_seq', 5, true);


--
-- Name: _subscriptions_id_seq; Type: SEQUENCE SET; Schema: postbag; Owner: -
--

SELECT pg_catalog.setval('postbag._subscriptions_id_seq', 2, true);


--
-- Name: _token; Type: SEQUENCE SET; Schema: postbag; Owner: -
--

SELECT pg_catalog.setval('postbag._token', 1, false);


--
-- Name: outbox__scheduled_n_seq; Type: SEQUENCE SET; Schema: postbag; Owner: -
--

SELECT pg_catalog.setval('postbag.outbox__scheduled_n_seq', 1, false);


--
-- Name: outbox__seq; Type: SEQUENCE SET; Schema: postbag; Owner: -
--

SELECT pg_catalog.setval('postbag.outbox__seq', 20, true);


--
-- Name: _audit _audit_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._audit
    ADD CONSTRAINT _audit_pkey PRIMARY KEY (id);


--
-- Name: _boxes _boxes_name_key; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._boxes
    ADD CONSTRAINT _boxes_name_key UNIQUE (name);


--
-- Name: _boxes _boxes_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._boxes
    ADD CONSTRAINT _boxes_pkey PRIMARY KEY (id);


--
-- Name: _commands _commands_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._commands
    ADD CONSTRAINT _commands_pkey PRIMARY KEY (id);


--
-- Name: _commands _commands_sub_seq_kind_key; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._commands
    ADD CONSTRAINT _commands_sub_seq_kind_key UNIQUE (sub, seq, kind);


--
-- Name: _consumers _consumers_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._consumers
    ADD CONSTRAINT _consumers_pkey PRIMARY KEY (name);


--
-- Name: _copies _copies_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._copies
    ADD CONSTRAINT _copies_pkey PRIMARY KEY (box, seq);


--
-- Name: _cuts _cuts_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._cuts
    ADD CONSTRAINT _cuts_pkey PRIMARY KEY (id);


--
-- Name: _discarded _discarded_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._discarded
    ADD CONSTRAINT _discarded_pkey PRIMARY KEY (sub, seq);


--
-- Name: _drops _drops_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._drops
    ADD CONSTRAINT _drops_pkey PRIMARY KEY (box, lo);


--
-- Name: _epoch _epoch_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._epoch
    ADD CONSTRAINT _epoch_pkey PRIMARY KEY (one);


--
-- Name: _floors _floors_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._floors
    ADD CONSTRAINT _floors_pkey PRIMARY KEY (box, seq);


--
-- Name: _forgetting _forgetting_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._forgetting
    ADD CONSTRAINT _forgetting_pkey PRIMARY KEY (one);


--
-- Name: _lanes _lanes_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._lanes
    ADD CONSTRAINT _lanes_pkey PRIMARY KEY (lane);


--
-- Name: _lanes _lanes_visible; Type: CHECK CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE postbag._lanes
    ADD CONSTRAINT _lanes_visible CHECK ((NOT row_security_active(('postbag._lanes'::regclass)::oid))) NOT VALID;


--
-- Name: _ledger _ledger_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._ledger
    ADD CONSTRAINT _ledger_pkey PRIMARY KEY (sub, span, fate, shard);


--
-- Name: _life _life_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._life
    ADD CONSTRAINT _life_pkey PRIMARY KEY (one);


--
-- Name: _meta _meta_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._meta
    ADD CONSTRAINT _meta_pkey PRIMARY KEY (one);


--
-- Name: _migrations _migrations_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._migrations
    ADD CONSTRAINT _migrations_pkey PRIMARY KEY (version);


--
-- Name: _once _once_id; Type: CHECK CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE postbag._once
    ADD CONSTRAINT _once_id CHECK ((id <> '\x'::bytea)) NOT VALID;


--
-- Name: _once _once_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._once
    ADD CONSTRAINT _once_pkey PRIMARY KEY (consumer, id);


--
-- Name: _once _once_visible; Type: CHECK CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE postbag._once
    ADD CONSTRAINT _once_visible CHECK ((NOT row_security_active(('postbag._once'::regclass)::oid))) NOT VALID;


--
-- Name: _parked _parked_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._parked
    ADD CONSTRAINT _parked_pkey PRIMARY KEY (sub, seq);


--
-- Name: _parked _parked_times; Type: CHECK CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE postbag._parked
    ADD CONSTRAINT _parked_times CHECK ((isfinite(ready) AND isfinite(due) AND isfinite(first))) NOT VALID;


--
-- Name: _past _past_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._past
    ADD CONSTRAINT _past_pkey PRIMARY KEY (sub, seq);


--
-- Name: _pauses _pauses_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._pauses
    ADD CONSTRAINT _pauses_pkey PRIMARY KEY (id);


--
-- Name: _pauses _pauses_sub_scope_held_key; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._pauses
    ADD CONSTRAINT _pauses_sub_scope_held_key UNIQUE (sub, scope, held);


--
-- Name: _relays _relays_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._relays
    ADD CONSTRAINT _relays_pkey PRIMARY KEY (id);


--
-- Name: _relays _relays_times; Type: CHECK CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE postbag._relays
    ADD CONSTRAINT _relays_times CHECK (isfinite(expires)) NOT VALID;


--
-- Name: _removed _removed_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._removed
    ADD CONSTRAINT _removed_pkey PRIMARY KEY (box, name);


--
-- Name: _shards _shards_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._shards
    ADD CONSTRAINT _shards_pkey PRIMARY KEY (id);


--
-- Name: _shards _shards_range; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._shards
    ADD CONSTRAINT _shards_range UNIQUE (sub, lo) DEFERRABLE INITIALLY DEFERRED;


--
-- Name: _subscriptions _subscriptions_box_name_key; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._subscriptions
    ADD CONSTRAINT _subscriptions_box_name_key UNIQUE (box, name);


--
-- Name: _subscriptions _subscriptions_pkey; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._subscriptions
    ADD CONSTRAINT _subscriptions_pkey PRIMARY KEY (id);


--
-- Name: headers headers_are_flat; Type: CHECK CONSTRAINT; Schema: postbag; Owner: -
--

ALTER DOMAIN postbag.headers
    ADD CONSTRAINT headers_are_flat CHECK (((length((VALUE)::text) - length(translate((VALUE)::text, '{['::text, ''::text))) <= 1000)) NOT VALID;


--
-- Name: headers headers_are_small; Type: CHECK CONSTRAINT; Schema: postbag; Owner: -
--

ALTER DOMAIN postbag.headers
    ADD CONSTRAINT headers_are_small CHECK ((octet_length((VALUE)::text) <= 65536)) NOT VALID;


--
-- Name: outbox outbox__pk; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox
    ADD CONSTRAINT outbox__pk PRIMARY KEY (seq);


--
-- Name: outbox__p0 outbox__p0__pk; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox__p0
    ADD CONSTRAINT outbox__p0__pk PRIMARY KEY (seq);


--
-- Name: outbox__p128 outbox__p128__pk; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox__p128
    ADD CONSTRAINT outbox__p128__pk PRIMARY KEY (seq);


--
-- Name: outbox__p160 outbox__p160__pk; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox__p160
    ADD CONSTRAINT outbox__p160__pk PRIMARY KEY (seq);


--
-- Name: outbox__p192 outbox__p192__pk; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox__p192
    ADD CONSTRAINT outbox__p192__pk PRIMARY KEY (seq);


--
-- Name: outbox__p224 outbox__p224__pk; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox__p224
    ADD CONSTRAINT outbox__p224__pk PRIMARY KEY (seq);


--
-- Name: outbox__p256 outbox__p256__pk; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox__p256
    ADD CONSTRAINT outbox__p256__pk PRIMARY KEY (seq);


--
-- Name: outbox__p288 outbox__p288__pk; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox__p288
    ADD CONSTRAINT outbox__p288__pk PRIMARY KEY (seq);


--
-- Name: outbox__p320 outbox__p320__pk; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox__p320
    ADD CONSTRAINT outbox__p320__pk PRIMARY KEY (seq);


--
-- Name: outbox__p32 outbox__p32__pk; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox__p32
    ADD CONSTRAINT outbox__p32__pk PRIMARY KEY (seq);


--
-- Name: outbox__p352 outbox__p352__pk; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox__p352
    ADD CONSTRAINT outbox__p352__pk PRIMARY KEY (seq);


--
-- Name: outbox__p384 outbox__p384__pk; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox__p384
    ADD CONSTRAINT outbox__p384__pk PRIMARY KEY (seq);


--
-- Name: outbox__p416 outbox__p416__pk; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox__p416
    ADD CONSTRAINT outbox__p416__pk PRIMARY KEY (seq);


--
-- Name: outbox__p448 outbox__p448__pk; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox__p448
    ADD CONSTRAINT outbox__p448__pk PRIMARY KEY (seq);


--
-- Name: outbox__p64 outbox__p64__pk; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox__p64
    ADD CONSTRAINT outbox__p64__pk PRIMARY KEY (seq);


--
-- Name: outbox__p96 outbox__p96__pk; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox__p96
    ADD CONSTRAINT outbox__p96__pk PRIMARY KEY (seq);


--
-- Name: outbox__scheduled outbox__scheduled__pk; Type: CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag.outbox__scheduled
    ADD CONSTRAINT outbox__scheduled__pk PRIMARY KEY (n);


--
-- Name: outbox outbox__sound; Type: CHECK CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE postbag.outbox
    ADD CONSTRAINT outbox__sound CHECK (((((xid = pg_current_xact_id()) AND (seq = currval('postbag.outbox__seq'::regclass)) AND ((topic)::text <> ''::text)) OR (COALESCE(current_setting('postbag.erasing'::text, true), ''::text) = 'on'::text)) AND (id <> '00000000-0000-0000-0000-000000000000'::uuid) AND (octet_length(payload) <= 16777216) AND ((place IS NULL) OR ((place >= 0) AND (place <= 4096))))) NOT VALID;


--
-- Name: _commands_pending; Type: INDEX; Schema: postbag; Owner: -
--

CREATE INDEX _commands_pending ON postbag._commands USING btree (sub, id) WHERE pending;


--
-- Name: _parked_chain; Type: INDEX; Schema: postbag; Owner: -
--

CREATE INDEX _parked_chain ON postbag._parked USING btree (shard, hash, seq) WHERE blocking;


--
-- Name: _parked_due; Type: INDEX; Schema: postbag; Owner: -
--

CREATE INDEX _parked_due ON postbag._parked USING btree (shard, due) WHERE (due IS NOT NULL);


--
-- Name: _parked_held; Type: INDEX; Schema: postbag; Owner: -
--

CREATE INDEX _parked_held ON postbag._parked USING btree (shard, held, seq) WHERE (state = 5);


--
-- Name: _parked_state; Type: INDEX; Schema: postbag; Owner: -
--

CREATE INDEX _parked_state ON postbag._parked USING btree (sub, state, seq) WHERE (state > 0);


--
-- Name: _parked_waiting; Type: INDEX; Schema: postbag; Owner: -
--

CREATE INDEX _parked_waiting ON postbag._parked USING btree (shard, hash, seq) WHERE ((state = 1) AND (NOT blocking) AND (hash <> 0));


--
-- Name: outbox__scheduled__due; Type: INDEX; Schema: postbag; Owner: -
--

CREATE INDEX outbox__scheduled__due ON postbag.outbox__scheduled USING btree (due, n);


--
-- Name: outbox__scheduled__id; Type: INDEX; Schema: postbag; Owner: -
--

CREATE INDEX outbox__scheduled__id ON postbag.outbox__scheduled USING btree (id);


--
-- Name: outbox__p0__pk; Type: INDEX ATTACH; Schema: postbag; Owner: -
--

ALTER INDEX postbag.outbox__pk ATTACH PARTITION postbag.outbox__p0__pk;


--
-- Name: outbox__p128__pk; Type: INDEX ATTACH; Schema: postbag; Owner: -
--

ALTER INDEX postbag.outbox__pk ATTACH PARTITION postbag.outbox__p128__pk;


--
-- Name: outbox__p160__pk; Type: INDEX ATTACH; Schema: postbag; Owner: -
--

ALTER INDEX postbag.outbox__pk ATTACH PARTITION postbag.outbox__p160__pk;


--
-- Name: outbox__p192__pk; Type: INDEX ATTACH; Schema: postbag; Owner: -
--

ALTER INDEX postbag.outbox__pk ATTACH PARTITION postbag.outbox__p192__pk;


--
-- Name: outbox__p224__pk; Type: INDEX ATTACH; Schema: postbag; Owner: -
--

ALTER INDEX postbag.outbox__pk ATTACH PARTITION postbag.outbox__p224__pk;


--
-- Name: outbox__p256__pk; Type: INDEX ATTACH; Schema: postbag; Owner: -
--

ALTER INDEX postbag.outbox__pk ATTACH PARTITION postbag.outbox__p256__pk;


--
-- Name: outbox__p288__pk; Type: INDEX ATTACH; Schema: postbag; Owner: -
--

ALTER INDEX postbag.outbox__pk ATTACH PARTITION postbag.outbox__p288__pk;


--
-- Name: outbox__p320__pk; Type: INDEX ATTACH; Schema: postbag; Owner: -
--

ALTER INDEX postbag.outbox__pk ATTACH PARTITION postbag.outbox__p320__pk;


--
-- Name: outbox__p32__pk; Type: INDEX ATTACH; Schema: postbag; Owner: -
--

ALTER INDEX postbag.outbox__pk ATTACH PARTITION postbag.outbox__p32__pk;


--
-- Name: outbox__p352__pk; Type: INDEX ATTACH; Schema: postbag; Owner: -
--

ALTER INDEX postbag.outbox__pk ATTACH PARTITION postbag.outbox__p352__pk;


--
-- Name: outbox__p384__pk; Type: INDEX ATTACH; Schema: postbag; Owner: -
--

ALTER INDEX postbag.outbox__pk ATTACH PARTITION postbag.outbox__p384__pk;


--
-- Name: outbox__p416__pk; Type: INDEX ATTACH; Schema: postbag; Owner: -
--

ALTER INDEX postbag.outbox__pk ATTACH PARTITION postbag.outbox__p416__pk;


--
-- Name: outbox__p448__pk; Type: INDEX ATTACH; Schema: postbag; Owner: -
--

ALTER INDEX postbag.outbox__pk ATTACH PARTITION postbag.outbox__p448__pk;


--
-- Name: outbox__p64__pk; Type: INDEX ATTACH; Schema: postbag; Owner: -
--

ALTER INDEX postbag.outbox__pk ATTACH PARTITION postbag.outbox__p64__pk;


--
-- Name: outbox__p96__pk; Type: INDEX ATTACH; Schema: postbag; Owner: -
--

ALTER INDEX postbag.outbox__pk ATTACH PARTITION postbag.outbox__p96__pk;


--
-- Name: _cuts _cuts_sub_fkey; Type: FK CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._cuts
    ADD CONSTRAINT _cuts_sub_fkey FOREIGN KEY (sub) REFERENCES postbag._subscriptions(id);


--
-- Name: _shards _shards_sub_fkey; Type: FK CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._shards
    ADD CONSTRAINT _shards_sub_fkey FOREIGN KEY (sub) REFERENCES postbag._subscriptions(id);


--
-- Name: _subscriptions _subscriptions_box_fkey; Type: FK CONSTRAINT; Schema: postbag; Owner: -
--

ALTER TABLE ONLY postbag._subscriptions
    ADD CONSTRAINT _subscriptions_box_fkey FOREIGN KEY (box) REFERENCES postbag._boxes(id);


--
-- PostgreSQL database dump complete
--



;;
