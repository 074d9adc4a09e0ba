#!/bin/sh
# Makes the role and the database of Carrel when the container of PostgreSQL begins first. The
# role may do nothing else: Carrel refuses a superuser, whom row-level security does not bind.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$CARREL_DATABASE_PASSWORD" <<'SQL'
CREATE ROLE carrel LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD :'password';
CREATE DATABASE carrel OWNER carrel ENCODING 'UTF8' TEMPLATE template0;
SQL
