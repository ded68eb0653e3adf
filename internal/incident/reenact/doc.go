// Package reenact writes a scenario that plays the story of an imported trace: the volumes and pods
// that it names, the answers of the driver, and the restarts of components at their times.
package reenact
