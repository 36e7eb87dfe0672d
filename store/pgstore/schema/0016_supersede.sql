-- Rejected messages that wait until a newer one of their key is delivered (on_reject: supersede): those of a key, in order.
CREATE INDEX _parked_waiting ON postbag._parked (shard, hash, seq) WHERE state = 1 AND NOT blocking AND hash <> 0;
