-- What there is.

-- name: catalog
-- All boxes with all subscriptions and shards, but for those whose table somebody dropped: small tables, read whole when the epoch has changed.
SELECT (SELECT e.n FROM postbag._epoch e), b.name, b.id, b."foreign", coalesce(b.numbering, 0), b.slots, u.id, u.name, u.types, u.takes,
  array_agg(s.id ORDER BY s.lo) FILTER (WHERE s.id IS NOT NULL),
  array_agg(s.lo::integer ORDER BY s.lo) FILTER (WHERE s.id IS NOT NULL),
  array_agg(s.hi::integer ORDER BY s.lo) FILTER (WHERE s.id IS NOT NULL)
FROM postbag._boxes b
LEFT JOIN postbag._subscriptions u ON u.box = b.id
LEFT JOIN postbag._shards s ON s.sub = u.id
WHERE to_regclass('postbag.' || quote_ident(b.name)) IS NOT NULL
GROUP BY b.id, u.id;

-- name: missing
-- Boxes whose table somebody dropped.
SELECT b.name FROM postbag._boxes b WHERE to_regclass('postbag.' || quote_ident(b.name)) IS NULL;
