"""Items of DuplexAct's conditions, made from scripts in which the user's words carry marks."""
