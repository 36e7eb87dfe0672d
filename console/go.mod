module github.com/postbag/postbag/console

go 1.26.0

require github.com/postbag/postbag v0.0.0-00010101000000-000000000000

replace github.com/postbag/postbag => ../
