use super::movement::Movement;
