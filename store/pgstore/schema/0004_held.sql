-- Messages whose topic does not work are parked for it: state 5, and held is the topic.
ALTER TABLE postbag._parked ADD COLUMN held text COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX _parked_held ON postbag._parked (shard, held, seq) WHERE state = 5;
