//go:build !linux

package main

// machineMemory is how much memory this process may have. 0: unknown.
func machineMemory() int64 { return 0 }
