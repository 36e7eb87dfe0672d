-- The parked messages of a key in one state, for the pages of a message's key: among many of that state, they would all be looked
-- through.
CREATE INDEX IF NOT EXISTS postbag__parked_hash ON postbag__parked (subscription, hash, state, seq);
