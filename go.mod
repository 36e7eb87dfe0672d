module github.com/postbag/postbag

go 1.26
