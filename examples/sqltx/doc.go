// Package sqltx saves an order and publishes its message in one transaction of database/sql.
package sqltx
