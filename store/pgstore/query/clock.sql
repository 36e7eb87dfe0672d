-- The time.

-- name: clock
-- The database's clock, in microseconds since 1970. It reads nothing and locks nothing.
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
