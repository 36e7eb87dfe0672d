package failpoint

// Said is the line that a program with points writes to its standard error when one does something.
func Said(name, action string) string { return "failpoint: " + name + " " + action }
