// Command alone is all that an image has: a program that takes no C library.
package main

import "os"

func main() { _, _ = os.Stdout.WriteString("alone\n") }
