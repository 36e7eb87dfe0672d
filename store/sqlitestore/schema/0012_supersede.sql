-- Rejected messages that wait until a newer one of their key is delivered (on_reject: supersede): those of a key, in order.
CREATE INDEX postbag__parked_waiting ON postbag__parked (subscription, hash, seq) WHERE state = 1 AND chain IS NULL AND hash <> 0;
