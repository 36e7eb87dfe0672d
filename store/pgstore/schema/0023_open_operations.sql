-- Long operations that are planned, running or paused: how many there are, and which of them did not begin.
CREATE INDEX IF NOT EXISTS _operations_open ON postbag._operations (state, box) WHERE state IN ('planned', 'running', 'paused');
