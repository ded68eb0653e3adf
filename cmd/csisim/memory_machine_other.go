//go:build !linux

package main

// machineMemory returns the memory that this process may use. 0: unknown.
func machineMemory() int64 { return 0 }
