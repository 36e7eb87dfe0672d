-- Boxes whose slots are made by number: an option of a box, that never changes.

-- How slots are made: 0 by hash, 1 by number.
ALTER TABLE postbag._boxes ADD COLUMN IF NOT EXISTS slots smallint NOT NULL DEFAULT 0;

-- The slot of a number in decimal digits, with a minus sign perhaps: the number modulo 4096, never negative. NULL: k is no
-- number. The last twelve digits decide, since 4096 divides ten to the power of twelve. So a number can have any length.
CREATE OR REPLACE FUNCTION postbag.number_slot(k text) RETURNS smallint LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE
    WHEN k COLLATE "C" !~ '^-?[0-9]+$' THEN NULL
    WHEN left(k, 1) = '-' THEN ((4096 - right(substr(k, 2), 12)::bigint % 4096) % 4096)::smallint
    ELSE (right(k, 12)::bigint % 4096)::smallint
  END;

-- The place of a row of a box by number: 1 + its slot. NULL: its key is no number. A row without a key is where it is in
-- every box.
CREATE OR REPLACE FUNCTION postbag.number_place(shard_key text, key text, i uuid) RETURNS smallint LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN (1 + CASE WHEN coalesce(nullif(shard_key, ''), key, '') = '' THEN postbag.slot_of(NULL, i)
    ELSE postbag.number_slot(coalesce(nullif(shard_key, ''), key)) END)::smallint;

-- Gives the rows of a box by number their places, whatever a producer says. The argument is the box.
CREATE OR REPLACE FUNCTION postbag._by_number() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.place := postbag.number_place(NEW.shard_key, NEW.key, NEW.id);
  IF NEW.place IS NULL AND NEW.id IS NOT NULL THEN
    RAISE EXCEPTION 'box % takes slots by number, and the shard key (or the key, if there is none) is no decimal integer such as 42 or -7', TG_ARGV[0]
      USING ERRCODE = 'check_violation', CONSTRAINT = TG_ARGV[0] || '__number', HINT = 'Set shard_key to a number, or leave both out.';
  END IF;
  RETURN NEW;
END $$;
