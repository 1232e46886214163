// Example disputes to start from; all made up.

export const EXAMPLES = [
  {
    title: "The boiler",
    context:
      "The boiler in my rented flat broke down three weeks ago, so there is no heating and no hot water. I told my landlord in writing the same day, and twice since. He says that he is busy and that an electric heater will do.",
    query: "Am I being unreasonable to expect my landlord to repair the boiler now?",
  },
  {
    title: "The washing machine",
    context:
      "I bought a washing machine eight months ago and it has stopped spinning. The shop says that its guarantee was for six months, and that I should pay for the repair myself.",
    query: "Am I being unreasonable to ask the shop for a free repair?",
  },
  {
    title: "The missed breaks",
    context:
      "I work eight-hour shifts in a warehouse. My manager keeps asking me to skip my break because we are short of people, and says that I am not a team player when I take it.",
    query: "Am I being unreasonable to insist on my break?",
  },
  {
    title: "Bedtime",
    context:
      "My four-year-old screams every evening when it is time for bed. My partner gives in and lets her stay up; I think that she needs a fixed bedtime. We argue about it most nights.",
    query: "Am I being unreasonable to want the same bedtime every night?",
  },
];
