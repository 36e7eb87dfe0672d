-- Notifications between processes.

-- name: notify
-- By itself, in autocommit: inside a business transaction it would take a lock that all commits queue for.
SELECT pg_notify('postbag', $1::text);
