// Package enttx saves an order and publishes its message in one transaction of
// ent. Its code is generated with the feature sql/execquery, which gives ent.Tx
// its ExecContext.
package enttx
