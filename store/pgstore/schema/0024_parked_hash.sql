-- The parked messages of a key in one state, for the pages of a message's key: among many of that state, they would all be looked
-- through. The condition holds for every row, as that of _parked_state does.
CREATE INDEX IF NOT EXISTS _parked_hash ON postbag._parked (sub, hash, state, seq) WHERE state > 0;
