// Package sqlxtx saves an order and publishes its message in one transaction of sqlx.
package sqlxtx
