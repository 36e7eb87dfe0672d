// Package sqlstore is what stores over database/sql have in common.
package sqlstore
