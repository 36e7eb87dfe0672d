package adapters

// closed closes a part of a place, if it was begun.
func closed[T interface {
	comparable
	Close() error
}](part T) error {
	var none T
	if part == none {
		return nil
	}
	return part.Close()
}
