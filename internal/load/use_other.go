//go:build !linux

package load

// Used measures nothing on this system.
func Used(plugin string, _ []int) Use { return Use{Plugin: plugin} }

// Goroutines are not known on this system.
func Goroutines(int) int64 { return 0 }

// ThisMachine describes this machine.
func ThisMachine() Machine { return thisMachine() }
