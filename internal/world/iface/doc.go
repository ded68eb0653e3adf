// Package iface turns on network interfaces.
package iface
