// Package privatemounts gives the tests of a package a mount namespace of their
// own. Tests that mount, and tests that hold the mount table against an earlier
// one, then do not see what the tests of other packages mount at the same time.
package privatemounts
