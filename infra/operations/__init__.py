"""What people do with a running system: see its threads, mend what broke. Behind the commands of the command line."""
