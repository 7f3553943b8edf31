#!/bin/sh
# The program that MESSAGE names, by batches: for scripts that take one program.
exec "$MESSAGE" --batch "$@"
