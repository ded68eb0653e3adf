// Package reenact writes a scenario that reproduces the story of an imported trace. It has the
// trace's volumes and pods, the driver's answers, and the restarts of components at their times.
package reenact
