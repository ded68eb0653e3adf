// Package lines reads the logs of an incident: files, folders, archives and standard input. It
// finds the form of each line by its content, and returns a record with the time, the place and
// the message of each line. Secrets are redacted before a record leaves the package.
package lines
