// Package duration reads and writes the durations of flags and configuration files. It
// takes Go's form (90s, 1h30m), also with whole days and weeks (3d, 2w, 1d12h), and the
// form of ISO 8601 (P3D, PT90S, P1DT12H). A day has 24 hours, a week seven days. Years and
// months have no fixed length, so it refuses them.
package duration
